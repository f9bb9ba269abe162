/**
 * A child: boots an interpreter from the base image, locks it and serves requests until its parent closes the channel.
 * QuickJS is booted when the first TypeScript program comes.
 * Its one argument is JSON (`ChildOptions`). It notes the index of the item it runs in the progress file.
 */
import { readdirSync, readFileSync, writeSync } from "node:fs";
import { encodeFrame, FrameReader } from "../frames.ts";
import type { ChildLimits, Ready, Reply, Request } from "../messages.ts";
import { channelDescriptor, progressDescriptor, readSome, writeAll } from "./channel.ts";
import { ContextStore } from "./context.ts";
import { bootPyodide, Interpreter } from "./interpreter.ts";
import { bootQuickJs } from "./quickjs.ts";
import { QuickJsGate } from "./quickjs-gate.ts";
import { QuickJsServer } from "./quickjs-server.ts";
import { residentBytes } from "./resident.ts";
import { Server } from "./serve.ts";
import { stripTypes } from "./strip-types.ts";

interface ChildOptions {
  readonly directory: string;
  readonly quickJs: { readonly wasmPath: string; readonly guestDirectory: string };
  readonly imagePath: string;
  readonly dispatchPointer: number;
  readonly lockPointer: number;
  readonly memoryLimitBytes: number;
  readonly limits: ChildLimits;
}

const options = JSON.parse(process.argv[2] ?? "{}") as ChildOptions;
const { pyodide, gate } = await bootPyodide({ directory: options.directory, image: readFileSync(options.imagePath) });
const interpreter = new Interpreter(pyodide, gate, options.dispatchPointer);
interpreter.callNoArguments(options.lockPointer);
gate.lock(options.memoryLimitBytes);

const progress = Buffer.alloc(4);
const onProgress = (index: number): void => {
  progress.writeUInt32LE(index);
  writeSync(progressDescriptor, progress, 0, 4, 0);
};
const server = new Server({ interpreter, contexts: new ContextStore(interpreter), limits: options.limits, onProgress });
let scripts: QuickJsServer | undefined;

send({ ready: true, startMs: performance.now() } satisfies Ready);
serve();

/** Blocking on purpose: nothing else of this process may run between requests. */
function serve(): void {
  const reader = new FrameReader(64 * 2 ** 20);
  const chunk = Buffer.allocUnsafe(65536);
  for (;;) {
    const length = readSome(channelDescriptor, chunk);
    if (length === 0) process.exit(0);
    for (const request of reader.push(Buffer.from(chunk.subarray(0, length)))) send(answer(request as Request));
  }
}

function answer(request: Request): Reply {
  if (request.kind === "clear") {
    scripts?.clear();
    return server.answer(request);
  }
  if (request.kind === "load" && request.language === "typescript") scripts ??= bootScripts();
  else if (scripts?.has(request.kind === "restore" ? request.of : request.program) !== true) return server.answer(request);
  const start = { guestBytes: interpreter.bytes().length, switchMs: 0 };
  return { ...start, ...scripts.answer(request), residentBytes: residentBytes() };
}

function bootScripts(): QuickJsServer {
  const { guestDirectory, wasmPath } = options.quickJs;
  const names = readdirSync(guestDirectory).filter((name) => name.endsWith(".ts") && !name.endsWith(".test.ts"));
  const library = new Map(names.map((name) => [name, plain(readFileSync(`${guestDirectory}/${name}`, "utf8"))]));
  const base = bootQuickJs({
    wasmBytes: readFileSync(wasmPath),
    gate: new QuickJsGate(library),
    memoryLimitBytes: options.memoryLimitBytes,
    main: library.get("driver.ts") ?? "",
    limits: options.limits,
  });
  return new QuickJsServer({ base, limits: options.limits, onProgress });
}

/** A library module without its types. */
function plain(source: string): string {
  const stripped = stripTypes(source);
  if ("message" in stripped) throw new Error(stripped.message);
  return stripped.source;
}

function send(value: unknown): void {
  writeAll(channelDescriptor, encodeFrame(value));
}
