/**
 * A child: boots an interpreter from the base image, locks it and serves requests until its parent closes the channel.
 * Its one argument is JSON (`ChildOptions`). It notes the index of the item it runs in the progress file.
 */
import { readFileSync, writeSync } from "node:fs";
import { encodeFrame, FrameReader } from "../frames.ts";
import type { ChildLimits, Ready, Request } from "../messages.ts";
import { channelDescriptor, progressDescriptor, readSome, writeAll } from "./channel.ts";
import { ContextStore } from "./context.ts";
import { bootPyodide, Interpreter } from "./interpreter.ts";
import { Server } from "./serve.ts";

interface ChildOptions {
  readonly directory: string;
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
const server = new Server({
  interpreter,
  contexts: new ContextStore(interpreter),
  limits: options.limits,
  onProgress: (index) => {
    progress.writeUInt32LE(index);
    writeSync(progressDescriptor, progress, 0, 4, 0);
  },
});

send({ ready: true, startMs: performance.now() } satisfies Ready);
serve();

/** Blocking on purpose: nothing else of this process may run between requests. */
function serve(): void {
  const reader = new FrameReader(64 * 2 ** 20);
  const chunk = Buffer.allocUnsafe(65536);
  for (;;) {
    const length = readSome(channelDescriptor, chunk);
    if (length === 0) process.exit(0);
    for (const request of reader.push(Buffer.from(chunk.subarray(0, length)))) send(server.answer(request as Request));
  }
}

function send(value: unknown): void {
  writeAll(channelDescriptor, encodeFrame(value));
}
