import { GuestStop, type CallBudget } from "./gate.ts";
import { wasm, type WasmImports, type WasmMemory, type WasmModule } from "./web-assembly.ts";

/** Fuel of one visit of QuickJS's interrupt check, which comes once in 10,000 loop iterations, calls or regex steps. */
const ticksPerInterrupt = 250;
const epochNs = 1_767_225_600_000_000_000n;
const badDescriptor = 8;

type ImportFunction = (...args: number[]) => number;

/** Reads a C string and gives bytes to the guest; what module loading needs of a machine. */
export interface GuestText {
  readonly memory: WasmMemory;
  readText(pointer: number): string;
  /** Address of a copy that the guest frees. */
  writeText(text: string): { readonly pointer: number; readonly length: number };
}

/**
 * The imports of QuickJS: all that a program could reach the host by. They are made here, none is passed through. Until
 * the lock, `import` finds the guest library; after it, every import of a program ends the call. Shared by all machines of
 * a child, of which one runs at a time.
 */
export class QuickJsGate {
  private readonly library: ReadonlyMap<string, string>;
  private isLocked = false;
  private fuelLeft = Infinity;
  private deadlineMs = Infinity;
  private timeNs = epochNs;

  /** `library` has the sources of the guest modules by file name. */
  constructor(library: ReadonlyMap<string, string>) {
    this.library = library;
  }

  /** @throws Error when the module imports anything that the gate does not know. */
  check(module: WasmModule): void {
    const made = this.imports(() => {
      throw new Error("nothing runs yet");
    });
    for (const { module: from, name, kind } of wasm.Module.imports(module)) {
      const isKnown = kind === "function" && Object.hasOwn(made, from) && Object.hasOwn(made[from] ?? {}, name);
      if (!isKnown) throw new Error(`unknown import ${from}.${name} (${kind}): the gate refuses to start`);
    }
  }

  lock(): void {
    this.isLocked = true;
  }

  begin(budget: CallBudget): void {
    this.fuelLeft = budget.fuel;
    this.deadlineMs = budget.deadlineMs;
    this.timeNs = epochNs + BigInt(budget.ordinal) * 1_000_000_000n;
  }

  /** Fuel used since `begin`. */
  fuelUsed(budget: CallBudget): number {
    return budget.fuel - Math.max(0, this.fuelLeft);
  }

  /** Takes fuel from the current call. @throws GuestStop when fuel or time is over; the guest cannot catch it. */
  spend(ticks: number): void {
    this.fuelLeft -= ticks;
    if (this.fuelLeft < 0) throw new GuestStop("fuel", "the call used all its fuel");
    if (performance.now() > this.deadlineMs) throw new GuestStop("timeout", "the call took longer than its wall limit");
  }

  /** Imports for one machine. */
  imports(guest: () => GuestText): WasmImports {
    const view = () => new DataView(guest().memory.buffer);
    const env: Record<string, ImportFunction> = {
      host_interrupt: () => {
        this.spend(ticksPerInterrupt);
        return 0;
      },
      host_get_timezone_offset: () => 0,
      host_module_normalize: (...[, name = 0]) => guest().writeText(this.moduleName(guest().readText(name))).pointer,
      host_module_load: (name = 0, lengthPointer = 0) => {
        const { pointer, length } = guest().writeText(this.library.get(guest().readText(name)) ?? "");
        view().setUint32(lengthPointer, length, true);
        return pointer;
      },
      host_call: () => deny("host functions"),
      host_promise_rejection: () => deny("rejection tracking"),
    };
    const wasi: Record<string, ImportFunction> = {
      clock_time_get: (...args) => {
        view().setBigUint64((args.at(-1) ?? 0) >>> 0, (this.timeNs += 1_000_000n), true);
        return 0;
      },
      // Only asked by the C library at its start; programs have no way to it.
      random_get: (pointer = 0, length = 0) => {
        new Uint8Array(guest().memory.buffer, pointer >>> 0, length >>> 0).fill(0x5a);
        return 0;
      },
      fd_write: () => badDescriptor,
      fd_close: () => badDescriptor,
      fd_seek: () => badDescriptor,
      fd_fdstat_get: () => badDescriptor,
    };
    return { env, wasi_snapshot_preview1: wasi };
  }

  /** Name of a library module. @throws GuestStop for any other name, and for every name after the lock. */
  private moduleName(specifier: string): string {
    const name = specifier.replace("./", "");
    if (this.isLocked || !this.library.has(name)) deny(`module ${JSON.stringify(specifier.slice(0, 80))}`);
    return name;
  }
}

function deny(what: string): never {
  throw new GuestStop("denied", `${what} is not available to environment programs`);
}
