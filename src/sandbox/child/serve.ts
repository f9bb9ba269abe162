import type { ChildLimits, Item, Outcome, Reply, Request } from "../messages.ts";
import type { Context, ContextStore } from "./context.ts";
import { decodeContext, difference, digestOf, encodeContext, merged } from "./delta.ts";
import { forkReply, metered, refusal, runSlice, tooLong, trapOf } from "./guest-call.ts";
import type { Interpreter } from "./interpreter.ts";
import { residentBytes } from "./resident.ts";

/** State right after loading: no instances. */
interface ProgramImage {
  readonly context: Context;
  /** Computed when it is first asked for. */
  digest?: string;
}

interface Loaded {
  /** Shared by a program and the forks restored from it. */
  readonly image: ProgramImage;
  /** State when it was switched away; absent while it is current. */
  parked?: Context;
}

const maxContextBytes = 256 * 2 ** 20;

/** Holds the programs of one interpreter, one of them current, and answers requests. */
export class Server {
  private readonly interpreter: Interpreter;
  private readonly contexts: ContextStore;
  readonly limits: ChildLimits;
  readonly onProgress: (index: number) => void;
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
      residentBytes: residentBytes(),
      switchMs: this.switchMs,
    };
  }

  private handle(request: Request): { outcomes: Outcome[]; lost: boolean } {
    switch (request.kind) {
      case "load":
        return this.load(request.program, request.source);
      case "run":
        return this.run(request);
      case "restore":
        return { outcomes: [this.restoreFork(request)], lost: false };
      case "unload":
        this.programs.delete(request.program);
        if (this.current === request.program) this.current = undefined;
        return { outcomes: [], lost: false };
      case "clear":
        this.programs.clear();
        this.current = undefined;
        return { outcomes: [], lost: false };
    }
  }

  private load(program: number, source: string): { outcomes: Outcome[]; lost: boolean } {
    this.switchTo(undefined);
    this.onProgress(0);
    const outcome = this.call({ op: "load", source, limits: this.limits }, { ordinal: 0 });
    if ("reply" in outcome && outcome.reply.startsWith('{"ok": true')) {
      this.programs.set(program, { image: { context: this.contexts.save() } });
      this.current = program;
    } else {
      this.contexts.restore(this.contexts.empty);
    }
    return { outcomes: [outcome], lost: false };
  }

  private run(request: Request & { readonly kind: "run" }): { outcomes: Outcome[]; lost: boolean } {
    const loaded = this.get(request.program);
    this.switchTo(request.program);
    const outcomes = runSlice(request, this, (item) => (item.op === "fork" ? this.fork(loaded) : this.call({ op: item.op, slot: item.slot, arg: item.arg }, item)));
    const last = outcomes.at(-1);
    const lost = last !== undefined && "trap" in last;
    if (lost) this.contexts.restore(loaded.image.context);
    return { outcomes, lost };
  }

  private get(program: number): Loaded {
    const loaded = this.programs.get(program);
    if (loaded === undefined) throw new Error(`program ${program} is not loaded`);
    return loaded;
  }

  /** The current program's state as a delta against its image; without it when it is larger than it may be. */
  private fork({ image }: Loaded): Outcome {
    const delta = difference(image.context, this.contexts.save(), (page) => this.contexts.basePage(page));
    const state = encodeContext(delta);
    image.digest ??= digestOf(image.context);
    return forkReply(image.digest, state, this.limits);
  }

  /** A refusal is a trap: the parent replays seed and actions instead. */
  private restoreFork({ program, of, image: wanted, state }: Request & { readonly kind: "restore" }): Outcome {
    const { image } = this.get(of);
    image.digest ??= digestOf(image.context);
    try {
      if (image.digest !== wanted) throw new Error("the state is of another program image");
      const delta = decodeContext(Buffer.from(state, "base64"), this.interpreter.gate.maxBytes);
      this.programs.set(program, { image, parked: merged(image.context, delta) });
      return { reply: '{"ok": true, "value": null}' };
    } catch (error) {
      return refusal(error);
    }
  }

  /** One guest call under its budget. After a trap the caller restores memory. */
  private call(request: object, item: Pick<Item, "ordinal" | "fuel" | "wallMs">): Outcome {
    return metered({ meter: this.interpreter.gate, limits: this.limits }, item, () => this.finish(request));
  }

  private finish(request: object): Outcome {
    const { gate } = this.interpreter;
    try {
      const reply = this.interpreter.call(Buffer.from(JSON.stringify(request)), this.limits.maxOutputBytes);
      if (reply.length > this.limits.maxOutputBytes) return tooLong(this.limits);
      // A capability was asked for, whatever the program made of the refusal.
      const denial = gate.denials[0];
      if (denial !== undefined) return { trap: { code: "denied", message: `${denial} is not available to environment programs` } };
      return { reply: reply.toString("utf8") };
    } catch (error) {
      return { trap: trapOf(error, "RecursionError: the interpreter's stack is exhausted") };
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
    this.contexts.restore(entering === undefined ? this.contexts.empty : (entering.parked ?? entering.image.context), parked?.pages);
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
    for (const program of this.programs.keys()) {
      if (this.contextBytes() <= maxContextBytes || program === this.current) return;
      this.programs.delete(program);
      this.evicted.push(program);
    }
  }

  private contextBytes(): number {
    const images = new Set([...this.programs.values()].map(({ image }) => image.context));
    const parked = [...this.programs.values()].flatMap((loaded) => loaded.parked ?? []);
    return [...images, ...parked].reduce((bytes, { data }) => bytes + data.length, 0);
  }
}
