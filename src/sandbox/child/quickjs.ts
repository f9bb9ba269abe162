import { ContextStore, type Context, type StateHolder } from "./context.ts";
import type { GuestText, QuickJsGate } from "./quickjs-gate.ts";
import { wasm, type WasmGlobal, type WasmInstance, type WasmMemory, type WasmModule } from "./web-assembly.ts";

/** The exports of the pinned QuickJS build that are used here. Values are addresses of boxed guest values. */
interface QuickJsExports {
  readonly memory: WasmMemory;
  readonly __stack_pointer: WasmGlobal;
  _initialize(): void;
  qjs_init2(intrinsics: number): number;
  qjs_set_memory_limit(bytes: number): void;
  qjs_set_max_stack_size(bytes: number): void;
  qjs_set_interrupt_handler(on: number): void;
  qjs_set_module_loader(on: number): void;
  qjs_eval(code: number, length: number, name: number, flags: number): number;
  qjs_call(callee: number, self: number, count: number, args: number): number;
  qjs_new_string(text: number, length: number): number;
  qjs_new_number(value: number): number;
  qjs_get_undefined(): number;
  qjs_get_prop_string(object: number, name: number): number;
  qjs_get_string_len(value: number, lengthPointer: number): number;
  qjs_free_cstring(text: number): void;
  qjs_free_value(value: number): void;
  qjs_is_exception(value: number): number;
  qjs_is_uncatchable_error(value: number): number;
  qjs_is_string(value: number): number;
  qjs_get_exception(): number;
  qjs_promise_state(value: number): number;
  qjs_promise_result(value: number): number;
  qjs_is_job_pending(): number;
  qjs_execute_pending_job(): number;
  wasm_malloc(bytes: number): number;
  wasm_free(address: number): void;
}

const moduleFlag = 1;
const pageBytes = 65536;
/** Everything but weak references (they make garbage collection observable) and `performance`. */
const intrinsics = 0x7fffffff & ~(1 << 9) & ~(1 << 10);
/** Guest stack; the C stack of the build has 1 MiB. */
const stackBytes = 256 * 1024;
/** Free memory in the base image, so that most programs never make memory grow. */
const reserveBytes = 512 * 1024;
/** Fuel of one promise job, so that jobs that do nothing end too. */
const ticksPerJob = 5;

/** A guest error that no guest code can catch: memory is used up. */
export class GuestMemoryError extends Error {}

/** A guest exception that reached the host; the message is guest text. */
export class GuestException extends Error {}

/** A program does not parse; the message is guest text. */
export class GuestSyntaxError extends Error {}

/** State of a machine relative to an image. */
export interface MachineState {
  readonly context: Context;
  readonly memoryBytes: number;
}

/** A booted QuickJS with the guest library: what every machine starts from. */
export interface QuickJsBase {
  readonly module: WasmModule;
  readonly gate: QuickJsGate;
  readonly image: Buffer;
  readonly stackPointer: number;
  /** Addresses of the guest's functions in the image. */
  readonly dispatch: number;
  readonly adopt: number;
}

/** One QuickJS virtual machine. Whatever a call throws leaves it in an unknown state: restore or discard it. */
export class Machine implements StateHolder, GuestText {
  private readonly gate: QuickJsGate;
  private readonly exports: QuickJsExports;

  constructor(module: WasmModule, gate: QuickJsGate) {
    this.gate = gate;
    const instance: WasmInstance = new wasm.Instance(module, gate.imports(() => this));
    this.exports = instance.exports as unknown as QuickJsExports;
  }

  get memory(): WasmMemory {
    return this.exports.memory;
  }

  get stackPointer(): number {
    return this.exports.__stack_pointer.value;
  }

  set stackPointer(value: number) {
    this.exports.__stack_pointer.value = value;
  }

  bytes(): Uint8Array {
    return new Uint8Array(this.memory.buffer);
  }

  /** Grows memory to at least `bytes`. */
  ensureBytes(bytes: number): void {
    const missing = bytes - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / pageBytes));
  }

  /** Starts the engine in a new machine. */
  initialise(memoryLimitBytes: number): void {
    const { exports } = this;
    exports._initialize();
    if (exports.qjs_init2(intrinsics) !== 0) throw new Error("QuickJS does not start");
    exports.qjs_set_memory_limit(memoryLimitBytes);
    exports.qjs_set_max_stack_size(stackBytes);
    exports.qjs_set_interrupt_handler(1);
    exports.qjs_set_module_loader(1);
    exports.wasm_free(this.allocate(reserveBytes));
  }

  /** State relative to an image. */
  save(image: Buffer): MachineState {
    return { context: new ContextStore(this, image).save(), memoryBytes: this.memory.buffer.byteLength };
  }

  /** Puts the machine, which must not have more memory than the state, exactly into a state. */
  restore(image: Buffer, state: MachineState): void {
    this.ensureBytes(state.memoryBytes);
    new ContextStore(this, image).restore(state.context);
  }

  /** Runs a module, and the jobs it leaves. Returns whether it was fulfilled and its namespace or the error. @throws GuestSyntaxError, GuestMemoryError, GuestStop */
  runModule(source: string, name: string): { readonly isFulfilled: boolean; readonly value: number } | undefined {
    const { exports } = this;
    const code = this.writeText(source);
    const promise = exports.qjs_eval(code.pointer, code.length, this.writeText(name).pointer, moduleFlag);
    if (exports.qjs_is_exception(promise) !== 0) throw this.exception(GuestSyntaxError);
    this.runJobs();
    const state = exports.qjs_promise_state(promise);
    return state === 0 ? undefined : { isFulfilled: state === 1, value: exports.qjs_promise_result(promise) };
  }

  /** A property of a guest object. */
  property(object: number, name: string): number {
    return this.exports.qjs_get_prop_string(object, this.writeText(name).pointer);
  }

  /** Calls a guest function that returns text with values (which are freed), then runs the jobs it left. @throws GuestMemoryError, GuestException, GuestStop */
  call(callee: number, args: readonly number[], maxBytes: number): string {
    const { exports } = this;
    const list = this.allocate(8 * args.length + 8);
    args.forEach((value, i) => new DataView(this.memory.buffer).setUint32(list + 4 * i, value, true));
    const result = exports.qjs_call(callee, exports.qjs_get_undefined(), args.length, list);
    exports.wasm_free(list);
    for (const value of args) exports.qjs_free_value(value);
    if (exports.qjs_is_exception(result) !== 0) throw this.exception(GuestException);
    this.runJobs();
    const text = this.text(result, maxBytes);
    exports.qjs_free_value(result);
    return text;
  }

  /** A guest string. */
  newText(text: string): number {
    const { pointer, length } = this.writeText(text);
    const value = this.exports.qjs_new_string(pointer, length);
    this.exports.wasm_free(pointer);
    if (this.exports.qjs_is_exception(value) !== 0) throw this.exception(GuestException);
    return value;
  }

  newNumber(value: number): number {
    return this.exports.qjs_new_number(value);
  }

  readText(pointer: number): string {
    const bytes = this.bytes();
    return Buffer.from(bytes.subarray(pointer, bytes.indexOf(0, pointer))).toString("utf8");
  }

  writeText(text: string): { readonly pointer: number; readonly length: number } {
    const bytes = Buffer.from(`${text}\0`);
    const pointer = this.allocate(bytes.length);
    this.bytes().set(bytes, pointer);
    return { pointer, length: bytes.length - 1 };
  }

  private allocate(bytes: number): number {
    const pointer = this.exports.wasm_malloc(bytes);
    if (pointer === 0) throw new GuestMemoryError("out of memory");
    return pointer;
  }

  /** Promise jobs run in the call that made them: nothing happens between calls. */
  private runJobs(): void {
    while (this.exports.qjs_is_job_pending() !== 0) {
      this.gate.spend(ticksPerJob);
      if (this.exports.qjs_execute_pending_job() < 0) throw this.exception(GuestException);
    }
  }

  /** Copies a guest string; at most one byte more than `maxBytes`, which tells that it is too long. */
  private text(value: number, maxBytes: number): string {
    const { exports } = this;
    if (exports.qjs_is_string(value) === 0) throw new GuestException("the driver returned something that is not text");
    const lengthPointer = this.allocate(4);
    const pointer = exports.qjs_get_string_len(value, lengthPointer);
    const length = new DataView(this.memory.buffer).getUint32(lengthPointer, true);
    exports.wasm_free(lengthPointer);
    if (pointer === 0) throw this.exception(GuestException);
    const text = Buffer.from(this.bytes().subarray(pointer, pointer + Math.min(length, maxBytes + 1))).toString("utf8");
    exports.qjs_free_cstring(pointer);
    return text;
  }

  /** The pending guest exception as an error of the given kind, or as a memory error if it is one that guests cannot catch. */
  private exception(kind: new (message: string) => Error): Error {
    const { exports } = this;
    const value = exports.qjs_get_exception();
    if (exports.qjs_is_uncatchable_error(value) !== 0) return new GuestMemoryError("the program used more memory than it may");
    const lengthPointer = this.allocate(4);
    const pointer = exports.qjs_get_string_len(value, lengthPointer);
    return new kind(pointer === 0 ? "an exception without text" : this.readText(pointer).slice(0, 400));
  }
}

/** Boots the base all machines of a child start from. @throws Error when the build needs an unknown import or the library does not run. */
export function bootQuickJs(options: { wasmBytes: Uint8Array; gate: QuickJsGate; memoryLimitBytes: number; main: string; limits: object }): QuickJsBase {
  const { gate } = options;
  const module = new wasm.Module(options.wasmBytes);
  gate.check(module);
  const machine = new Machine(module, gate);
  machine.initialise(options.memoryLimitBytes);
  const library = machine.runModule(options.main, "spade");
  if (library?.isFulfilled !== true) throw new Error("the guest library does not run");
  const [dispatch, adopt, configure] = ["dispatch", "adopt", "configure"].map((name) => machine.property(library.value, name)) as [number, number, number];
  machine.call(configure, [machine.newText(JSON.stringify(options.limits))], 1000);
  gate.lock();
  return { module, gate, image: Buffer.from(machine.bytes()), stackPointer: machine.stackPointer, dispatch, adopt };
}

/** A machine in the base state: a used one of the base's memory size, or else a new one. */
export function baseMachine(base: QuickJsBase, used?: Machine): Machine {
  const machine = used ?? new Machine(base.module, base.gate);
  machine.ensureBytes(base.image.length);
  machine.bytes().set(base.image);
  machine.stackPointer = base.stackPointer;
  return machine;
}
