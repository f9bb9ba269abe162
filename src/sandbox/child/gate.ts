import { importRule } from "./imports.ts";
import { wasm, type WasmImports, type WasmInstance, type WasmMemory } from "./web-assembly.ts";

/** Ends a guest call from inside an import; thrown through the interpreter, so the guest cannot catch it. */
export class GuestStop extends Error {
  readonly code: "fuel" | "timeout" | "exit" | "denied";
  constructor(code: GuestStop["code"], message: string) {
    super(message);
    this.code = code;
  }
}

/** What one guest call may use. */
export interface CallBudget {
  readonly fuel: number;
  /** On the clock of `performance.now()`. */
  readonly deadlineMs: number;
  /** Number of the call in its instance's life: seeds the virtual clock and entropy. */
  readonly ordinal: number;
}

type ImportFunction = ((...args: never[]) => unknown) & { sig?: string };

const knownModules = new Set(["env", "wasi_snapshot_preview1", "GOT.mem", "GOT.func"]);
const epochNs = 1_767_225_600_000_000_000n;

/**
 * The import gate. `install` hooks `WebAssembly.instantiate` before Pyodide boots and replaces every function of
 * `imports.env` in place, so that dlsym, the GOT and the function table see the wrappers only. After `lock`, only what
 * `imports.ts` allows does anything. Clock and entropy are virtual from the start: images are deterministic.
 */
export class ImportGate {
  instance: WasmInstance | undefined;
  /** Denied capabilities used in the current call. */
  readonly denials: string[] = [];
  private locked = false;
  private fuelLeft = Infinity;
  private deadlineMs = Infinity;
  private timeNs = epochNs;
  private entropy = 1;
  private memoryCapBytes = Infinity;
  private resize: (bytes: number) => unknown = () => 0;
  private readonly initialMemoryBytes: number;

  constructor(initialMemoryBytes: number) {
    this.initialMemoryBytes = initialMemoryBytes;
  }

  get memory(): WasmMemory {
    return this.exported("memory") as WasmMemory;
  }

  /** Fuel used since `begin`. */
  fuelUsed(budget: CallBudget): number {
    return budget.fuel - Math.max(0, this.fuelLeft);
  }

  /** Most bytes of memory the interpreter may have. */
  get maxBytes(): number {
    return Math.min(this.memoryCapBytes, 2 ** 31 - 65536);
  }

  /** Grows memory as the interpreter itself would. @throws Error when that is above the cap. */
  ensureBytes(bytes: number): void {
    if (bytes <= this.maxBytes) this.resize(bytes);
    if (this.memory.buffer.byteLength < bytes) throw new Error(`memory cannot grow to ${bytes} bytes`);
  }

  install(): void {
    const instantiate = wasm.instantiate.bind(wasm);
    const hook: typeof instantiate = async (source, imports) => {
      if (this.locked) throw new Error("no module may be instantiated after the lock");
      if (imports?.["env"] === undefined) return instantiate(source, imports);
      this.wrapAll(imports);
      const result = await instantiate(source, imports);
      this.instance = result.instance;
      this.growTo(this.initialMemoryBytes);
      return result;
    };
    Object.assign(wasm, { instantiate: hook, instantiateStreaming: undefined });
  }

  /** From here on the interpreter has no capability but computing. */
  lock(memoryLimitBytes: number): void {
    this.locked = true;
    this.memoryCapBytes = this.memory.buffer.byteLength + memoryLimitBytes;
    const memory = this.memory;
    const grow = memory.grow.bind(memory);
    // Emscripten grows by a fifth more than it was asked for: clamp to the cap, so that the limit is exact.
    memory.grow = (pages) => grow(Math.min(pages, Math.floor((this.memoryCapBytes - memory.buffer.byteLength) / 65536)));
  }

  begin(budget: CallBudget): void {
    this.denials.length = 0;
    this.fuelLeft = budget.fuel;
    this.deadlineMs = budget.deadlineMs;
    this.timeNs = epochNs + BigInt(budget.ordinal) * 1_000_000_000n;
    this.entropy = (Math.imul(budget.ordinal + 1, 0x9e3779b1) ^ 0x5bd1e995) | 1;
  }

  private exported(name: string): unknown {
    if (this.instance === undefined) throw new Error("the interpreter has not been instantiated");
    return this.instance.exports[name];
  }

  private growTo(bytes: number): void {
    const missing = bytes - this.memory.buffer.byteLength;
    if (missing > 0) this.memory.grow(Math.ceil(missing / 65536));
  }

  /** Replaces every function in place; refuses imports it does not understand. */
  private wrapAll(imports: WasmImports): void {
    const unknownModule = Object.keys(imports).find((name) => !knownModules.has(name));
    if (unknownModule !== undefined) throw new Error(`unknown import module ${unknownModule}: the gate refuses to start`);
    if (imports["env"] !== imports["wasi_snapshot_preview1"]) throw new Error("env and wasi imports differ: the gate refuses to start");
    const env = imports["env"] ?? {};
    const own = this.ownImports(env);
    for (const [name, value] of Object.entries(env)) {
      if (name === "syncifyHandler") env[name] = this.wrap(name, () => undefined);
      else if (typeof value !== "function") throw new Error(`import ${name} is not a function: the gate refuses to start`);
      else env[name] = own[name] ?? this.wrap(name, value as ImportFunction);
    }
  }

  private wrap(name: string, original: ImportFunction): ImportFunction {
    const rule = importRule(name);
    const wrapper: ImportFunction = (...args) => {
      if (!this.locked || rule.kind === "pass") return original(...args);
      if (rule.kind === "exit") throw new GuestStop("exit", `the program ended the process (${name})`);
      if (rule.kind === "refuse") {
        if (rule.held) this.denials.push(name);
        return rule.value;
      }
      this.denials.push(name);
      throw new GuestStop("denied", `${name} is not available to environment programs`);
    };
    return Object.assign(wrapper, original.sig === undefined ? {} : { sig: original.sig });
  }

  /** Imports the gate implements itself, before and after the lock. */
  private ownImports(env: Record<string, unknown>): Record<string, ImportFunction> {
    const view = () => new DataView(this.memory.buffer);
    const resize = (this.resize = env["emscripten_resize_heap"] as (size: number) => unknown);
    const own: Record<string, (...args: number[]) => unknown> = {
      clock_time_get: (...args) => {
        view().setBigUint64((args.at(-1) ?? 0) >>> 0, this.tick(), true);
        return 0;
      },
      clock_res_get: (_clock, pointer = 0) => {
        view().setBigUint64(pointer >>> 0, 1_000_000n, true);
        return 0;
      },
      emscripten_get_now: () => Number(this.tick() - epochNs) / 1e6,
      emscripten_date_now: () => Number(this.tick() / 1_000_000n),
      random_get: (pointer = 0, length = 0) => {
        const bytes = new Uint8Array(this.memory.buffer, pointer >>> 0, length >>> 0);
        for (let i = 0; i < bytes.length; i++) bytes[i] = this.entropyByte();
        return 0;
      },
      _Py_CheckEmscriptenSignals_Helper: () => {
        this.checkBudget();
        return 0;
      },
      emscripten_get_heap_max: () => this.maxBytes,
      emscripten_resize_heap: (size = 0) => (size >>> 0 > this.memoryCapBytes ? 0 : resize(size)),
      fd_write: (descriptor = 0, vectors = 0, count = 0, written = 0) => this.swallow(descriptor, { vectors, count, written }),
    };
    for (const [name, replacement] of Object.entries(own)) {
      const sig = (env[name] as ImportFunction | undefined)?.sig;
      if (sig !== undefined) Object.assign(replacement, { sig });
    }
    return own;
  }

  private tick(): bigint {
    return (this.timeNs += 1_000_000n);
  }

  private entropyByte(): number {
    this.entropy ^= this.entropy << 13;
    this.entropy ^= this.entropy >>> 17;
    this.entropy ^= this.entropy << 5;
    return (this.entropy >>> 11) & 255;
  }

  private checkBudget(): void {
    if (--this.fuelLeft < 0) throw new GuestStop("fuel", "the call used all its fuel");
    if (performance.now() > this.deadlineMs) throw new GuestStop("timeout", "the call took longer than its wall limit");
  }

  /** Standard output and error of the interpreter go nowhere; any other descriptor is refused. */
  private swallow(descriptor: number, buffers: { vectors: number; count: number; written: number }): number {
    if (descriptor !== 1 && descriptor !== 2) {
      this.denials.push("fd_write");
      return 63;
    }
    const view = new DataView(this.memory.buffer);
    let length = 0;
    for (let i = 0; i < buffers.count; i++) length += view.getUint32(buffers.vectors + 8 * i + 4, true);
    view.setUint32(buffers.written, length, true);
    return 0;
  }
}
