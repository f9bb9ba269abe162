import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Cost, share } from "./cost.ts";

const directory = import.meta.dirname;
const guestDirectory = join(directory, "..", "src", "sandbox", "guest");

/** A list of actions for one instance. */
export interface ActionList {
  readonly seed: number;
  readonly actions: readonly string[];
}

/** The harness of `native_harness.py`: hand-written programs in plain CPython. It answers one request at a time. */
export class NativeHarness {
  private readonly process: ChildProcess;
  private readonly lines: AsyncIterator<string>;
  private stderr = "";

  /** Starts it. @throws Error when there is no usable Python */
  static async start(python: string): Promise<NativeHarness> {
    requirePython(python);
    const harness = new NativeHarness(python);
    await harness.ask({ op: "hello" });
    return harness;
  }

  private constructor(python: string) {
    this.process = spawn(python, ["-I", join(directory, "native_harness.py"), guestDirectory], { stdio: ["pipe", "pipe", "pipe"] });
    this.process.stderr?.on("data", (chunk: Buffer) => (this.stderr = (this.stderr + chunk.toString("utf8")).slice(-2000)));
    if (this.process.stdout === null) throw new Error("the native harness has no output");
    this.lines = createInterface(this.process.stdout)[Symbol.asyncIterator]();
  }

  hello(): Promise<{ readonly python: string; readonly workers: number }> {
    return this.ask({ op: "hello" });
  }

  /** Makes a program known under a name. `entry` is its class. */
  add(program: string, source: string, entry: string): Promise<unknown> {
    return this.ask({ op: "program", program, source, entry });
  }

  /** What one load takes, of `count`: exec, construct, reset, three probe steps, reset. */
  async load(program: string, count: number): Promise<Cost> {
    return share(await this.ask<Cost>({ op: "loads", program, count }), count);
  }

  /** What playing lists of actions takes, and a digest of what was observed. `direct` is without the pool of threads. */
  steps(program: string, mode: "batched" | "single" | "direct", plays: readonly ActionList[]): Promise<Cost & { readonly digest: string }> {
    return this.ask({ op: "steps", program, mode, plays });
  }

  /** Resident bytes that `count` loaded environments take. */
  async memory(program: string, count: number): Promise<number> {
    return (await this.ask<{ bytes: number }>({ op: "memory", program, count })).bytes;
  }

  close(): void {
    this.process.stdin?.end();
    this.process.kill("SIGKILL");
  }

  private async ask<T>(request: object): Promise<T> {
    this.process.stdin?.write(`${JSON.stringify(request)}\n`);
    const line = await this.lines.next();
    if (line.done === true) throw new Error(`The native harness ended: ${this.stderr}`);
    return JSON.parse(line.value) as T;
  }
}

/** @throws Error when `python` cannot be run or is older than the guest library needs. */
function requirePython(python: string): void {
  const { error, stdout } = spawnSync(python, ["-c", "import platform; print(platform.python_implementation(), platform.python_version())"], { encoding: "utf8" });
  const [implementation = "", version = ""] = error === undefined ? stdout.trim().split(" ") : [];
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (implementation === "CPython" && (major > 3 || (major === 3 && minor >= 10))) return;
  const found = error === undefined ? `found "${stdout.trim()}"` : error.message;
  throw new Error(`This bench compares the sandbox with a native CPython of at least 3.10, and "${python}" is none (${found}). Install Python, or name it with --python PATH.`);
}
