import { createHash } from "node:crypto";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { ChildLimits, Item, Outcome, ProgramRequest, Reply } from "../messages.ts";
import { decodeContext, encodeContext } from "./delta.ts";
import { forkReply, metered, refusal, runSlice, tooLong, trapOf } from "./guest-call.ts";
import { baseMachine, GuestException, GuestMemoryError, GuestSyntaxError, type Machine, type MachineState, type QuickJsBase } from "./quickjs.ts";
import { stripTypes } from "./strip-types.ts";
import { typescriptFacts } from "./typescript-facts.ts";

/** An instance is a whole virtual machine; it has one while it is live, else its state is kept relative to its program's image. */
interface Instance {
  readonly of: Loaded;
  machine?: Machine;
  parked?: MachineState;
  /** Memory it takes. */
  bytes: number;
}

interface Loaded {
  /** Memory right after the module ran. */
  readonly image: Buffer;
  /** What an instance begins in: right after the module ran, or a fork's state. */
  readonly fresh: MachineState;
  readonly instances: Map<number, Instance>;
  /** Memory its instances take. */
  bytes: number;
}

type Answer = Pick<Reply, "outcomes" | "lost" | "isSpent">;

/** Machines with an instance in them. Each takes address space, of which V8 has about 100 memories' worth. */
const maxLive = 32;
/** Bytes of one program's instances, and of all programs. */
const maxProgramBytes = 256 * 2 ** 20;
const maxBytes = 384 * 2 ** 20;
/** Memory of discarded machines after which it is collected: V8 does not see how much hangs on them. */
const maxDiscardedBytes = 128 * 2 ** 20;
const filename = "environment";
const success = '{"ok":true';

/** Holds the TypeScript programs of a child, one virtual machine per instance, and answers requests. */
export class QuickJsServer {
  private readonly base: QuickJsBase;
  readonly limits: ChildLimits;
  readonly onProgress: (index: number) => void;
  private readonly programs = new Map<number, Loaded>();
  /** Live instances, the most recently used last. */
  private readonly live = new Set<Instance>();
  /** Machines with the memory size of the base, free to be restored to any state. */
  private readonly idle: Machine[] = [];
  private discardedBytes = 0;

  constructor(options: { base: QuickJsBase; limits: ChildLimits; onProgress: (index: number) => void }) {
    this.base = options.base;
    this.limits = options.limits;
    this.onProgress = options.onProgress;
  }

  has(program: number): boolean {
    return this.programs.has(program);
  }

  /** Unloads all programs. */
  clear(): void {
    for (const program of [...this.programs.keys()]) this.unload(program);
  }

  /** Outcomes and evicted programs; the caller adds what it knows of the process. */
  answer(request: ProgramRequest): Answer & Pick<Reply, "evicted"> {
    const answer = this.handle(request);
    const evicted = this.makeRoom(request.program);
    if (this.discardedBytes > maxDiscardedBytes) {
      collectGarbage();
      this.discardedBytes = 0;
    }
    return { ...answer, evicted };
  }

  private handle(request: ProgramRequest): Answer {
    switch (request.kind) {
      case "load":
        return this.load(request.program, request.source);
      case "run":
        return this.run(request);
      case "restore":
        return { outcomes: [this.restoreFork(request)], lost: false };
      case "unload":
        this.unload(request.program);
        return { outcomes: [], lost: false };
    }
  }

  private load(program: number, source: string): Answer {
    this.onProgress(0);
    const stripped = stripTypes(source);
    if ("message" in stripped) return { outcomes: [failure("parse", stripped.message)], lost: false, isSpent: stripped.isBroken };
    const machine = baseMachine(this.base, this.idle.pop());
    const outcome = this.loadInto(machine, program, stripped.source);
    this.retire(machine, !isSuccess(outcome));
    return { outcomes: [outcome], lost: false };
  }

  private loadInto(machine: Machine, program: number, source: string): Outcome {
    const adopted = this.guarded({ ordinal: 0 }, () => {
      const result = machine.runModule(source, filename);
      if (result === undefined) return failure("protocol", "the module waits for ever at its top level");
      return { reply: machine.call(this.base.adopt, [machine.newNumber(Number(result.isFulfilled)), result.value], this.limits.maxOutputBytes) };
    });
    if (!isSuccess(adopted)) return adopted;
    const image = Buffer.from(machine.bytes());
    const fresh = machine.save(image);
    const described = this.call(machine, { op: "describe", slot: 0, ordinal: 0 });
    if (!isSuccess(described)) return described;
    this.programs.set(program, { image, fresh, instances: new Map(), bytes: 0 });
    return withFacts(described.reply, source);
  }

  private run(request: ProgramRequest & { readonly kind: "run" }): Answer {
    const { program } = request;
    const loaded = this.get(program);
    // The most recently used program is the last of the map.
    this.programs.delete(program);
    this.programs.set(program, loaded);
    // After a trap only the instance concerned is gone.
    return { outcomes: runSlice(request, this, (item) => this.runItem(loaded, item)), lost: false };
  }

  private get(program: number): Loaded {
    const loaded = this.programs.get(program);
    if (loaded === undefined) throw new Error(`program ${program} is not loaded`);
    return loaded;
  }

  /** An instance's state relative to its program's image; without it when it is larger than it may be. */
  private fork({ of, machine, parked }: Instance): Outcome {
    const { context, memoryBytes } = machine?.save(of.image) ?? parked ?? of.fresh;
    const size = Buffer.alloc(4);
    size.writeUInt32LE(memoryBytes);
    return forkReply(digestOf(of.image), Buffer.concat([size, encodeContext(context)]), this.limits);
  }

  /** A refusal is a trap: the parent replays seed and actions instead. */
  private restoreFork({ program, of, image: wanted, state }: ProgramRequest & { readonly kind: "restore" }): Outcome {
    const { image } = this.get(of);
    try {
      if (digestOf(image) !== wanted) throw new Error("the state is of another program image");
      const bytes = Buffer.from(state, "base64");
      const memoryBytes = bytes.readUInt32LE(0);
      if (memoryBytes < image.length || memoryBytes > maxProgramBytes) throw new Error("a forked state has a memory size out of range");
      const context = decodeContext(bytes.subarray(4), memoryBytes);
      this.programs.set(program, { image, fresh: { context, memoryBytes }, instances: new Map(), bytes: 0 });
      return { reply: '{"ok":true,"value":null}' };
    } catch (error) {
      return refusal(error);
    }
  }

  private runItem(loaded: Loaded, item: Item): Outcome {
    const { slot } = item;
    if (item.op === "drop") {
      this.drop(loaded, slot);
      return { reply: '{"ok":true,"value":null}' };
    }
    if (item.op === "create") this.drop(loaded, slot);
    const instance = loaded.instances.get(slot) ?? { of: loaded, parked: loaded.fresh, bytes: 0 };
    loaded.instances.set(slot, instance);
    if (item.op === "fork") return this.fork(instance);
    let outcome = this.call(this.machineOf(instance), item);
    account(instance);
    if (loaded.bytes > maxProgramBytes) outcome = { trap: { code: "memory", message: "the program's instances use more memory than they may" } };
    if ("trap" in outcome) this.drop(loaded, slot, true);
    else if (item.op === "create" && !isSuccess(outcome)) this.drop(loaded, slot);
    return outcome;
  }

  private call(machine: Machine, { op, arg, ...budget }: Omit<Item, "op"> & { readonly op: string }): Outcome {
    return this.guarded(budget, () => ({
      reply: machine.call(this.base.dispatch, [machine.newText(JSON.stringify({ op, arg }))], this.limits.maxOutputBytes),
    }));
  }

  /** One guest call under its budget. After a trap the machine is in an unknown state. */
  private guarded(item: Pick<Item, "ordinal" | "fuel" | "wallMs">, call: () => Outcome): Outcome {
    return metered({ meter: this.base.gate, limits: this.limits }, item, () => this.finish(call));
  }

  private finish(call: () => Outcome): Outcome {
    try {
      const outcome = call();
      return "reply" in outcome && Buffer.byteLength(outcome.reply) > this.limits.maxOutputBytes ? tooLong(this.limits) : outcome;
    } catch (error) {
      if (error instanceof GuestSyntaxError) return failure("parse", error.message);
      if (error instanceof GuestMemoryError) return { trap: { code: "memory", message: error.message } };
      if (error instanceof GuestException) return { trap: { code: "raise", message: error.message } };
      return { trap: trapOf(error, "the interpreter's stack is exhausted") };
    }
  }

  /** The instance's machine, made live if it is not. */
  private machineOf(instance: Instance): Machine {
    const { machine: own, parked } = instance;
    if (own !== undefined) {
      this.live.delete(instance);
      this.live.add(instance);
      return own;
    }
    const [oldest] = this.live;
    if (this.live.size >= maxLive && oldest !== undefined) this.park(oldest);
    const machine = this.idle.pop() ?? baseMachine(this.base);
    if (parked === undefined) throw new Error("an instance has no state");
    machine.restore(instance.of.image, parked);
    delete instance.parked;
    instance.machine = machine;
    this.live.add(instance);
    return machine;
  }

  private park(instance: Instance): void {
    if (instance.machine !== undefined) instance.parked = instance.machine.save(instance.of.image);
    this.free(instance, false);
  }

  /** Takes the machine from an instance. */
  private free(instance: Instance, isBroken: boolean): void {
    const { machine } = instance;
    delete instance.machine;
    this.live.delete(instance);
    account(instance);
    if (machine !== undefined) this.retire(machine, isBroken);
  }

  /** A machine that has grown, or may be broken, is not used again. */
  private retire(machine: Machine, isBroken: boolean): void {
    const { byteLength } = machine.memory.buffer;
    if (!isBroken && byteLength === this.base.image.length) this.idle.push(machine);
    else this.discardedBytes += byteLength;
  }

  private drop(loaded: Loaded, slot: number, isBroken = false): void {
    const instance = loaded.instances.get(slot);
    if (instance === undefined) return;
    delete instance.parked;
    this.free(instance, isBroken);
    loaded.instances.delete(slot);
  }

  private unload(program: number): void {
    const loaded = this.programs.get(program);
    for (const slot of [...(loaded?.instances.keys() ?? [])]) if (loaded !== undefined) this.drop(loaded, slot);
    this.programs.delete(program);
  }

  /** Unloads the least recently used programs while all take too much memory. */
  private makeRoom(current: number): number[] {
    const evicted: number[] = [];
    let bytes = 0;
    for (const loaded of this.programs.values()) bytes += loaded.image.length + loaded.bytes;
    for (const [program, loaded] of this.programs) {
      if (bytes <= maxBytes || program === current) break;
      bytes -= loaded.image.length + loaded.bytes;
      this.unload(program);
      evicted.push(program);
    }
    return evicted;
  }
}

function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
}

/** Brings the account of an instance's memory up to date. */
function account(instance: Instance): void {
  const bytes = instance.machine?.memory.buffer.byteLength ?? instance.parked?.context.data.length ?? 0;
  instance.of.bytes += bytes - instance.bytes;
  instance.bytes = bytes;
}

function digestOf(image: Buffer): string {
  return createHash("sha256").update(image).digest("hex");
}

function isSuccess(outcome: Outcome): outcome is { readonly reply: string } {
  return "reply" in outcome && outcome.reply.startsWith(success);
}

function failure(code: string, message: string): Outcome {
  return { reply: JSON.stringify({ ok: false, failure: { code, message } }) };
}

/** The guest's own description (hostile) and the facts read from the source. */
function withFacts(reply: string, source: string): Outcome {
  try {
    const { value } = JSON.parse(reply) as { value: object };
    return { reply: JSON.stringify({ ok: true, value: { ...value, ...typescriptFacts(source) } }) };
  } catch {
    return failure("protocol", "the program's description is not JSON");
  }
}
