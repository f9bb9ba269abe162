import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, openSync, readSync, unlinkSync, writeSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { dirname, join } from "node:path";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import { monotonicClock } from "../core/clock.ts";
import { SpadeError } from "../core/errors.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import { childCommand, childDirectory, childEnvironment, pyodideDirectory, quickJsFiles, type Image } from "./image.ts";
import { killGraceMs, residentOverheadBytes, slowNiceness } from "./limits.ts";
import type { Reply, Request } from "./messages.ts";
import type { GuestFailureCode, Limits } from "./sandbox.ts";
import type { BubblewrapState } from "./second-layer.ts";
import { giveWay, processorMsOf, residentBytesOf } from "./processes.ts";

/** The end of a child in the middle of a request: which item it was running and what that means for it. */
export class ChildDeath extends Error {
  readonly itemIndex: number;
  readonly code: GuestFailureCode;
  constructor(itemIndex: number, code: GuestFailureCode, message: string) {
    super(message);
    this.itemIndex = itemIndex;
    this.code = code;
  }
}

export interface ChildOptions {
  readonly image: Image;
  readonly limits: Limits;
  readonly bubblewrap: BubblewrapState;
  /** Whether other processes go before it when the processors are busy. */
  readonly givesWay: boolean;
}

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

const here = dirname(fileURLToPath(import.meta.url));
const pollMs = 25;
const maxFrameBytes = 64 * 2 ** 20;
const living = new Set<Child>();

/** One child process. Answers one request at a time; is killed with its whole process group. */
export class Child {
  /** Milliseconds from spawn until it was ready. */
  startMs = 0;
  private readonly process: ChildProcess;
  private readonly channel: Duplex;
  private readonly limits: Limits;
  private readonly progressFile: number;
  private readonly exited: Promise<void>;
  private readonly reader = new FrameReader(maxFrameBytes);
  private pending: Pending | undefined;
  private verdict: { code: GuestFailureCode; message: string } | undefined;
  private stderr = "";
  private lastProgress = 0;

  /** Begins to start a child. */
  constructor({ image, limits, bubblewrap, givesWay }: ChildOptions) {
    this.limits = limits;
    const { maxObservationChars, maxOutputBytes, maxForkBytes, fuelPerCall, wallMsPerCall, memoryLimitBytes } = limits;
    const options = {
      directory: pyodideDirectory,
      quickJs: quickJsFiles,
      imagePath: image.path,
      dispatchPointer: image.dispatchPointer,
      lockPointer: image.lockPointer,
      memoryLimitBytes,
      limits: { fuelPerCall, wallMsPerCall, maxObservationChars, maxOutputBytes, maxForkBytes },
    };
    const readable = [pyodideDirectory, image.path, childDirectory, ...Object.values(quickJsFiles), join(here, "frames.ts"), join(here, "messages.ts")];
    this.progressFile = openUnlinked(dirname(image.path));
    this.process = spawn(...childCommand(readable, [join(childDirectory, "main.ts"), JSON.stringify(options)], bubblewrap), {
      env: childEnvironment,
      cwd: childDirectory,
      detached: true,
      stdio: ["ignore", "ignore", "pipe", this.progressFile, "pipe"],
    });
    if (givesWay) giveWay(this.process.pid, slowNiceness);
    living.add(this);
    this.exited = new Promise((resolve) => {
      this.process.once("close", () => {
        this.onExit();
        resolve();
      });
      this.process.once("error", () => {
        this.onExit();
        resolve();
      });
    });
    this.channel = this.process.stdio[4] as Duplex;
    this.channel.on("error", () => undefined);
    this.channel.on("data", (chunk: Buffer) => this.onData(chunk));
    this.process.stderr?.on("data", (chunk: Buffer) => (this.stderr = (this.stderr + chunk.toString("utf8")).slice(-2000)));
  }

  /** Waits until a new child serves; once. @throws sandbox.child-start */
  async started(): Promise<void> {
    try {
      const begin = monotonicClock();
      await this.receive(this.limits.wallMsPerStart, () => undefined);
      this.startMs = monotonicClock() - begin;
    } catch (error) {
      await this.kill();
      const message = `A sandbox child did not start: ${error instanceof Error ? error.message : ""} ${this.stderr}`;
      throw new SpadeError("sandbox.child-start", `${message.trim()}. Run with the pinned Node (npm ci installs it).`, { cause: error });
    }
  }

  /** Process id, for tests and diagnosis. */
  get pid(): number | undefined {
    return this.process.pid;
  }

  /**
   * One request. `onLongCall` is told again and again how much processor time the call that is running has used.
   * @throws ChildDeath when the child hung, grew or died; it is dead then.
   */
  async request(request: Request, onLongCall?: (usedMs: number) => void): Promise<Reply> {
    writeSync(this.progressFile, Buffer.alloc(4), 0, 4, 0);
    this.channel.write(encodeFrame(request));
    let index = 0;
    let since = monotonicClock();
    let overdue = 0;
    /** When the call was first seen running: a short one costs no look at its processor time. */
    let usedBeforeMs: number | undefined;
    const wallMsOf = (item: number): number => (request.kind === "run" ? request.items[item]?.wallMs : undefined) ?? this.limits.wallMsPerCall;
    const watch = (): void => {
      const now = this.progress();
      if (now !== index) {
        index = now;
        since = monotonicClock();
        overdue = 0;
        usedBeforeMs = undefined;
      } else if (monotonicClock() - since > wallMsOf(index) + killGraceMs && ++overdue > 2) {
        // Overdue at several polls: if this process itself was held up, the answer has been read by now.
        this.condemn("timeout", `the call was still running after its wall limit of ${Math.ceil(wallMsOf(index))} ms`);
      }
      const usedMs = processorMsOf(this.process.pid);
      onLongCall?.(usedMs - (usedBeforeMs ??= usedMs));
      if (residentBytesOf(this.process.pid) > residentOverheadBytes + this.limits.memoryLimitBytes) {
        this.condemn("memory", "the process grew beyond its memory limit");
      }
    };
    return (await this.receive(Infinity, watch)) as Reply;
  }

  /** Kills the process group and waits until it is reaped. */
  async kill(): Promise<void> {
    this.killNow();
    await this.exited;
  }

  /** Kills without waiting. */
  killNow(): void {
    const pid = this.process.pid;
    if (pid === undefined || this.process.exitCode !== null || this.process.signalCode !== null) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // No process groups on this platform, or the group is gone.
      this.process.kill("SIGKILL");
    }
  }

  private receive(limitMs: number, watch: () => void): Promise<unknown> {
    if (!living.has(this)) return Promise.reject(this.death());
    const begin = monotonicClock();
    const timer = setInterval(() => {
      if (monotonicClock() - begin > limitMs) this.condemn("timeout", `no answer after ${limitMs} ms`);
      else watch();
    }, pollMs);
    return new Promise((resolve, reject) => {
      this.pending = { resolve, reject };
    }).finally(() => clearInterval(timer));
  }

  private condemn(code: GuestFailureCode, message: string): void {
    this.verdict ??= { code, message };
    this.killNow();
  }

  private onData(chunk: Buffer): void {
    try {
      for (const frame of this.reader.push(chunk)) {
        this.pending?.resolve(frame);
        this.pending = undefined;
      }
    } catch {
      this.condemn("exit", "the child wrote something that is not a frame");
    }
  }

  private onExit(): void {
    if (!living.has(this)) return;
    this.progress();
    living.delete(this);
    this.pending?.reject(this.death());
    this.pending = undefined;
    closeSync(this.progressFile);
  }

  private death(): ChildDeath {
    const how = this.process.signalCode ?? `status ${String(this.process.exitCode)}`;
    const { code, message } = this.verdict ?? { code: "exit" as const, message: `the child died (${how})` };
    return new ChildDeath(this.lastProgress, code, message);
  }

  private progress(): number {
    const bytes = Buffer.alloc(4);
    readSync(this.progressFile, bytes, 0, 4, 0);
    return (this.lastProgress = bytes.readUInt32LE());
  }
}

process.once("exit", () => {
  for (const child of living) child.killNow();
});

/** A file that exists only as long as it is open. */
function openUnlinked(directory: string): number {
  const path = join(directory, `progress-${randomUUID()}`);
  const file = openSync(path, "wx+", 0o600);
  try {
    unlinkSync(path);
  } catch {
    // Not on Windows while it is open; it is a few bytes in the cache directory.
  }
  return file;
}
