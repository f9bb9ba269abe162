import { constants, readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { ImportGate } from "./gate.ts";
import type { WasmGlobal } from "./web-assembly.ts";

/** The few parts of Pyodide's undocumented internals that the sandbox uses; the version is pinned exactly. */
interface PyodideModule {
  _PyBytes_FromStringAndSize: (data: number, size: number) => number;
  _PyObject_CallOneArg: (callable: number, argument: number) => number;
  _PyObject_CallNoArgs: (callable: number) => number;
  _Py_DecRef: (object: number) => void;
  _PyErr_Clear: () => void;
  _Py_EMSCRIPTEN_SIGNAL_HANDLING: number;
  __Py_emscripten_signal_clock: number;
  HEAP8: Int8Array;
}

export interface Pyodide {
  readonly _module: PyodideModule;
  runPython: (code: string) => unknown;
  makeMemorySnapshot: () => Uint8Array;
}

/** Offsets of a bytes object on wasm32: length, then data. */
const bytesLength = 8;
const bytesData = 16;

/** Boots Pyodide behind a gate, from an image when one is given, else from nothing. */
export async function bootPyodide(options: { readonly directory: string; readonly image?: Uint8Array }): Promise<{ pyodide: Pyodide; gate: ImportGate }> {
  const gate = new ImportGate(options.image?.byteLength ?? 0);
  gate.install();
  // Pyodide asks for constants through an API that permission mode denies.
  Object.assign(process, { binding: () => ({ fs: constants }) });
  // Finalizers would touch an interpreter whose memory has been restored since.
  Object.assign(globalThis, { FinalizationRegistry: class { register(): void {} unregister(): void {} } });
  fixDate();
  fixNavigator();
  const loader = (await import(pathToFileURL(`${options.directory}/pyodide.mjs`).href)) as { loadPyodide: (config: object) => Promise<Pyodide> };
  const pyodide = await loader.loadPyodide({
    indexURL: `${options.directory}/`,
    lockFileContents: JSON.parse(readFileSync(`${options.directory}/pyodide-lock.json`, "utf8")) as object,
    packageBaseUrl: "https://invalid.invalid/",
    // Everything Emscripten would otherwise take from the host (language, path of the script).
    env: { PYTHONHASHSEED: "0", HOME: "/home", LANG: "C.UTF-8", _: "python" },
    _sysExecutable: "python",
    ...(options.image === undefined ? { _makeSnapshot: true } : { _loadSnapshot: options.image }),
  });
  return { pyodide, gate };
}

/** Emscripten's file system stamps its files with the time of day, which would end up in the image. */
function fixDate(): void {
  const fixed = 1_767_225_600_000;
  class FixedDate extends Date {
    constructor(...args: unknown[]) {
      super(...((args.length === 0 ? [fixed] : args) as [number]));
    }
    static override now(): number {
      return fixed;
    }
  }
  Object.assign(globalThis, { Date: FixedDate });
  Object.assign(Math, { random: () => 0.5 });
}

/** Emscripten tells Python the name and version of its host, which would end up in the image (`sys._emscripten_info`). */
function fixNavigator(): void {
  Object.defineProperty(globalThis, "navigator", { value: { userAgent: "Node.js", language: "en-US", hardwareConcurrency: 1 }, configurable: true });
}

/** The interpreter as the serving loop sees it: one guest function from bytes to bytes, and its memory. */
export class Interpreter {
  readonly gate: ImportGate;
  private readonly module: PyodideModule;
  private readonly dispatchPointer: number;
  private bytesCache = new Uint8Array(0);

  constructor(pyodide: Pyodide, gate: ImportGate, dispatchPointer: number) {
    this.module = pyodide._module;
    this.gate = gate;
    this.dispatchPointer = dispatchPointer;
    this.module.HEAP8[this.module._Py_EMSCRIPTEN_SIGNAL_HANDLING] = 1;
  }

  /** All of guest memory; valid until the next guest call. */
  bytes(): Uint8Array {
    const buffer = this.gate.memory.buffer;
    if (this.bytesCache.buffer !== buffer) this.bytesCache = new Uint8Array(buffer);
    return this.bytesCache;
  }

  /** Grows guest memory to at least `bytes`. @throws Error when it may not grow so far. */
  ensureBytes(bytes: number): void {
    if (bytes > this.bytes().length) this.gate.ensureBytes(bytes);
  }

  get stackPointer(): number {
    return this.stackGlobal().value;
  }

  set stackPointer(value: number) {
    this.stackGlobal().value = value;
  }

  /** Calls a guest function without arguments. @throws Error when it raises. */
  callNoArguments(pointer: number): void {
    const result = this.module._PyObject_CallNoArgs(pointer);
    if (result === 0) throw new Error("the guest function raised");
    this.module._Py_DecRef(result);
  }

  /**
   * One guest call: request bytes in, reply bytes out (copied). Whatever is thrown leaves the interpreter in an unknown
   * state: restore its memory. @throws GuestStop, WebAssembly and JavaScript errors.
   */
  call(request: Uint8Array, maxReplyBytes: number): Buffer {
    // The signal clock counts down to the next budget check: the same start makes fuel exact.
    this.bytes()[this.module.__Py_emscripten_signal_clock] = 50;
    const argument = this.module._PyBytes_FromStringAndSize(0, request.length);
    if (argument === 0) throw new Error("the interpreter is out of memory");
    this.bytes().set(request, argument + bytesData);
    const result = this.module._PyObject_CallOneArg(this.dispatchPointer, argument);
    if (result === 0) throw new Error("the guest driver raised");
    const bytes = this.bytes();
    const length = new DataView(bytes.buffer).getUint32(result + bytesLength, true);
    const reply = Buffer.from(bytes.subarray(result + bytesData, result + bytesData + Math.min(length, maxReplyBytes + 1)));
    this.module._Py_DecRef(result);
    this.module._Py_DecRef(argument);
    return reply;
  }

  private stackGlobal(): WasmGlobal {
    return this.gate.instance?.exports["__stack_pointer"] as WasmGlobal;
  }
}
