import type { ChildLimits, Item, Outcome, Reply, Request } from "../messages.ts";
import type { Context, ContextStore } from "./context.ts";
import { GuestStop } from "./gate.ts";
import type { Interpreter } from "./interpreter.ts";

interface Loaded {
  /** State right after loading: no instances. */
  readonly image: Context;
  /** State when it was switched away; absent while it is current. */
  parked?: Context;
}

const maxContextBytes = 256 * 2 ** 20;

/** Holds the programs of one interpreter, one of them current, and answers requests. */
export class Server {
  private readonly interpreter: Interpreter;
  private readonly contexts: ContextStore;
  private readonly limits: ChildLimits;
  private readonly onProgress: (index: number) => void;
  private readonly programs = new Map<number, Loaded>();
  private current: number | undefined;
  private switchMs = 0;
  private readonly evicted: number[] = [];

  constructor(options: { interpreter: Interpreter; contexts: ContextStore; limits: ChildLimits; onProgress: (index: number) => void }) {
    this.interpreter = options.interpreter;
    this.contexts = options.contexts;
    this.limits = options.limits;
    this.onProgress = options.onProgress;
  }

  answer(request: Request): Reply {
    this.switchMs = 0;
    this.evicted.length = 0;
    const { outcomes, lost } = this.handle(request);
    this.makeRoom();
    return {
      outcomes,
      lost,
      evicted: [...this.evicted],
      guestBytes: this.interpreter.bytes().length,
      residentBytes: process.memoryUsage.rss(),
      switchMs: this.switchMs,
    };
  }

  private handle(request: Request): { outcomes: Outcome[]; lost: boolean } {
    switch (request.kind) {
      case "load":
        return this.load(request.program, request.source);
      case "run":
        return this.run(request.program, request.items);
      case "unload":
        this.programs.delete(request.program);
        if (this.current === request.program) this.current = undefined;
        return { outcomes: [], lost: false };
    }
  }

  private load(program: number, source: string): { outcomes: Outcome[]; lost: boolean } {
    this.switchTo(undefined);
    this.onProgress(0);
    const outcome = this.call({ op: "load", source, limits: this.limits }, 0);
    if ("reply" in outcome && outcome.reply.startsWith('{"ok": true')) {
      this.programs.set(program, { image: this.contexts.save() });
      this.current = program;
    } else {
      this.contexts.restore(this.contexts.empty);
    }
    return { outcomes: [outcome], lost: false };
  }

  private run(program: number, items: readonly Item[]): { outcomes: Outcome[]; lost: boolean } {
    const loaded = this.programs.get(program);
    if (loaded === undefined) throw new Error(`program ${program} is not loaded`);
    this.switchTo(program);
    const outcomes: Outcome[] = [];
    let bytes = 0;
    for (const [index, item] of items.entries()) {
      this.onProgress(index);
      const outcome = this.call({ op: item.op, slot: item.slot, arg: item.arg }, item.ordinal);
      outcomes.push(outcome);
      if ("trap" in outcome) {
        this.contexts.restore(loaded.image);
        return { outcomes, lost: true };
      }
      bytes += outcome.reply.length;
      if (bytes > this.limits.maxOutputBytes) break;
    }
    return { outcomes, lost: false };
  }

  /** One guest call under its budget. After a trap the caller restores memory. */
  private call(request: object, ordinal: number): Outcome {
    const { gate } = this.interpreter;
    gate.begin({ fuel: this.limits.fuelPerCall, deadlineMs: performance.now() + this.limits.wallMsPerCall, ordinal });
    try {
      const reply = this.interpreter.call(Buffer.from(JSON.stringify(request)), this.limits.maxOutputBytes);
      if (reply.length > this.limits.maxOutputBytes) {
        return { trap: { code: "output", message: `the answer is longer than ${this.limits.maxOutputBytes} bytes` } };
      }
      // A capability was asked for, whatever the program made of the refusal.
      const denial = gate.denials[0];
      if (denial !== undefined) return { trap: { code: "denied", message: `${denial} is not available to environment programs` } };
      return { reply: reply.toString("utf8") };
    } catch (error) {
      return { trap: trapOf(error) };
    }
  }

  /** Makes a program (or the base image) current. */
  private switchTo(program: number | undefined): void {
    if (program === this.current && program !== undefined) return;
    const start = performance.now();
    const leaving = this.current === undefined ? undefined : this.programs.get(this.current);
    const parked = leaving === undefined ? undefined : this.contexts.save();
    if (leaving !== undefined && parked !== undefined) leaving.parked = parked;
    const entering = program === undefined ? undefined : this.programs.get(program);
    this.contexts.restore(entering === undefined ? this.contexts.empty : (entering.parked ?? entering.image), parked?.pages);
    if (program !== undefined && entering !== undefined) {
      delete entering.parked;
      // The most recently used program is the last of the map.
      this.programs.delete(program);
      this.programs.set(program, entering);
    }
    this.current = program;
    this.switchMs += performance.now() - start;
  }

  /** Drops the least recently used programs while contexts take too much memory. */
  private makeRoom(): void {
    let bytes = 0;
    for (const loaded of this.programs.values()) bytes += loaded.image.data.length + (loaded.parked?.data.length ?? 0);
    for (const [program, loaded] of this.programs) {
      if (bytes <= maxContextBytes || program === this.current) return;
      bytes -= loaded.image.data.length + (loaded.parked?.data.length ?? 0);
      this.programs.delete(program);
      this.evicted.push(program);
    }
  }
}

function trapOf(error: unknown): { code: string; message: string } {
  if (error instanceof GuestStop) return { code: error.code, message: error.message };
  if (error instanceof RangeError) return { code: "raise", message: "RecursionError: the interpreter's stack is exhausted" };
  return { code: "raise", message: `the interpreter trapped: ${error instanceof Error ? error.message : "unknown"}`.slice(0, 300) };
}
