import { SpadeError } from "../core/errors.ts";
import type { Program } from "../core/environment.ts";
import { ChildDeath } from "./child-process.ts";
import type { Lane, Tenant } from "./lane.ts";
import { maxRequestBytes, maxSlowFailures } from "./limits.ts";
import type { Item, ItemOperation } from "./messages.ts";
import { failed, readFacts, readOutcome, readReset, readStep, readStrings, type Read } from "./replies.ts";
import type { GuestFailure, GuestResult, InstanceId, Limits, ProgramFacts, ProgramHandle, ResetValue, StepValue } from "./sandbox.ts";

/** An instance as the parent remembers it: enough to make it again in any child. */
interface Instance {
  /** Calls made so far, in order; the first is `create`. */
  readonly history: Item[];
  /** Set when a call ended from outside: the instance's state is unknown, it answers with this from then on. */
  failure?: GuestFailure;
}

interface Call<T> {
  readonly op: ItemOperation;
  readonly slot: InstanceId;
  readonly arg?: number | string;
  readonly read: Read<T>;
}

/** A program, its instances, and where they are. Guest state that a dead child held is made again by replay. */
export class LoadedProgram implements ProgramHandle, Tenant {
  readonly key: number;
  private readonly program: Program;
  private readonly holder: Lane;
  private readonly limits: Limits;
  private readonly instances = new Map<InstanceId, Instance>();
  /** Instances that exist in the child at this moment. */
  private readonly resident = new Set<InstanceId>();
  private readonly toDrop: InstanceId[] = [];
  private isLoaded = false;
  private isClosed = false;
  private nextInstance = 0;
  private slowFailures = 0;
  private condemned: GuestFailure | undefined;
  private factsRead: ProgramFacts | undefined;

  constructor(options: { key: number; program: Program; lane: Lane; limits: Limits }) {
    this.key = options.key;
    this.program = options.program;
    this.holder = options.lane;
    this.limits = options.limits;
    if (Buffer.byteLength(this.program.source) > maxRequestBytes) {
      throw new SpadeError("sandbox.too-large", `The program has ${this.program.source.length} characters; at most ${maxRequestBytes} bytes are accepted.`);
    }
  }

  get lane(): number {
    return this.holder.index;
  }

  get facts(): ProgramFacts {
    if (this.factsRead === undefined) throw new SpadeError("sandbox.not-loaded", "The program has not been loaded yet.");
    return this.factsRead;
  }

  onUnloaded(): void {
    this.isLoaded = false;
    this.resident.clear();
    this.toDrop.length = 0;
  }

  /** Loads the program for the first time. */
  async open(): Promise<GuestResult<ProgramHandle>> {
    this.holder.add(this);
    const failure = await this.holder.run(this.key, () => this.load());
    if (failure === undefined) return { ok: true, value: this };
    this.holder.remove(this);
    return { ok: false, failure };
  }

  async create(seeds: readonly number[]): Promise<readonly GuestResult<{ readonly instance: InstanceId } & ResetValue>[]> {
    this.assertOpen();
    if (this.instances.size + seeds.length > this.limits.maxInstances) {
      const message = `${this.instances.size} instances are open and ${seeds.length} more were asked for; maxInstances is ${this.limits.maxInstances}. Release some.`;
      throw new SpadeError("sandbox.too-many-instances", message);
    }
    const slots = seeds.map(() => this.nextInstance++);
    for (const slot of slots) this.instances.set(slot, { history: [] });
    const results = await this.calls(slots.map((slot, i) => ({ op: "create", slot, arg: asSeed(seeds[i]), read: readReset })));
    return results.map((result, i) => {
      const slot = slots[i] ?? NaN;
      if (result.ok) return { ok: true, value: { instance: slot, ...result.value } };
      this.instances.delete(slot);
      return result;
    });
  }

  async reset(calls: readonly { readonly instance: InstanceId; readonly seed: number }[]): Promise<readonly GuestResult<ResetValue>[]> {
    return this.calls(calls.map(({ instance, seed }) => ({ op: "reset", slot: this.known(instance), arg: asSeed(seed), read: readReset })));
  }

  async step(calls: readonly { readonly instance: InstanceId; readonly action: string }[]): Promise<readonly GuestResult<StepValue>[]> {
    return this.calls(calls.map(({ instance, action }) => ({ op: "step", slot: this.known(instance), arg: asAction(action), read: readStep })));
  }

  async solution(instances: readonly InstanceId[]): Promise<readonly GuestResult<readonly string[]>[]> {
    return this.calls(instances.map((instance) => ({ op: "solution", slot: this.known(instance), read: readStrings })));
  }

  release(instances: readonly InstanceId[]): Promise<void> {
    for (const instance of instances) {
      this.instances.delete(instance);
      if (this.resident.delete(instance)) this.toDrop.push(instance);
    }
    return Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.instances.clear();
    await this.holder.run(this.key, async () => {
      this.holder.remove(this);
      if (this.isLoaded) await this.holder.ask({ kind: "unload", program: this.key });
    });
  }

  private assertOpen(): void {
    if (this.isClosed) throw new SpadeError("sandbox.closed", "The program handle is closed. Open the program again.");
  }

  private known(instance: InstanceId): InstanceId {
    this.assertOpen();
    if (!this.instances.has(instance)) {
      throw new SpadeError("sandbox.unknown-instance", `Instance ${instance} is not one of this program: it was never created here, failed to, or was released.`);
    }
    return instance;
  }

  /** Loads the program into the child if it is not there. Returns why it cannot be. */
  private async load(): Promise<GuestFailure | undefined> {
    if (this.condemned !== undefined || this.isLoaded) return this.condemned;
    const { generation } = this.holder;
    const reply = await this.holder.ask({ kind: "load", program: this.key, language: this.program.language, source: this.program.source });
    if (reply instanceof ChildDeath) return (this.condemned = { code: reply.code, message: reply.message });
    const outcome = reply.outcomes[0] ?? { trap: { code: "protocol", message: "no answer" } };
    const result = readOutcome(outcome, readFacts);
    if (!result.ok) return (this.condemned = result.failure);
    this.factsRead ??= result.value;
    this.isLoaded = this.holder.generation === generation;
    return undefined;
  }

  /** Makes calls in order, in as few requests as traps and deaths allow. */
  private calls<T>(calls: readonly Call<T>[]): Promise<readonly GuestResult<T>[]> {
    this.assertOpen();
    if (calls.length === 0) return Promise.resolve([]);
    return this.holder.run(this.key, async () => {
      const results = new Map<Call<T>, GuestResult<T>>();
      for (;;) {
        for (const call of calls) {
          const dead = this.condemned ?? this.instances.get(call.slot)?.failure;
          if (dead !== undefined && !results.has(call)) results.set(call, failed(dead));
        }
        const pending = calls.filter((call) => !results.has(call));
        if (pending.length === 0) break;
        await this.load();
        if (this.isLoaded) await this.request(pending, results);
      }
      return calls.map((call) => results.get(call) ?? failed({ code: "protocol", message: "the call was not made" }));
    });
  }

  /** One request: what must be dropped and replayed first, then the calls. Fills in the results it gets. */
  private async request<T>(calls: readonly Call<T>[], results: Map<Call<T>, GuestResult<T>>): Promise<void> {
    const plan: { readonly item: Item; readonly call?: Call<T> }[] = [];
    const dropped = this.toDrop.splice(0);
    for (const slot of dropped) plan.push({ item: { op: "drop", slot, ordinal: 0 } });
    const made = new Map<InstanceId, number>();
    for (const call of calls) {
      const history = this.instances.get(call.slot)?.history ?? [];
      if (!this.resident.has(call.slot) && !made.has(call.slot)) plan.push(...history.map((item) => ({ item })));
      const ordinal = made.get(call.slot) ?? history.length;
      made.set(call.slot, ordinal + 1);
      const { op, slot, arg } = call;
      plan.push({ item: { op, slot, ordinal, ...(arg === undefined ? {} : { arg }) }, call });
    }
    const reply = await this.holder.ask({ kind: "run", program: this.key, items: plan.map(({ item }) => item) });
    if (reply instanceof ChildDeath) {
      const culprit = plan[reply.itemIndex];
      if (culprit !== undefined) this.fail(culprit.item.slot, { code: reply.code, message: reply.message });
      return;
    }
    for (const [i, outcome] of reply.outcomes.entries()) {
      const { item, call } = plan[i] ?? {};
      if (item === undefined || item.op === "drop") continue;
      const result = readOutcome<unknown>(outcome, call?.read ?? (() => null));
      if ("trap" in outcome && !result.ok) this.fail(item.slot, result.failure);
      else if (this.instances.has(item.slot)) this.note(item, call !== undefined);
      if (call !== undefined) results.set(call, result as GuestResult<T>);
    }
    if (reply.lost) this.resident.clear();
  }

  /** Remembers a call that was made. */
  private note(item: Item, isNew: boolean): void {
    if (isNew) this.instances.get(item.slot)?.history.push(item);
    if (this.isLoaded) this.resident.add(item.slot);
  }

  private fail(slot: InstanceId, failure: GuestFailure): void {
    const instance = this.instances.get(slot);
    if (instance !== undefined) instance.failure = failure;
    if (failure.code !== "fuel" && failure.code !== "timeout") return;
    if (++this.slowFailures >= maxSlowFailures) {
      this.condemned = { code: failure.code, message: `${failure.message}; the program is not run again after ${maxSlowFailures} such calls` };
    }
  }
}

function asSeed(seed: number | undefined): number {
  if (seed === undefined || !Number.isSafeInteger(seed) || seed < 0) {
    throw new SpadeError("sandbox.seed", `Seed ${String(seed)} is not a non-negative integer.`);
  }
  return seed;
}

function asAction(action: string): string {
  if (action.length > maxRequestBytes / 4) {
    throw new SpadeError("sandbox.too-large", `An action has ${action.length} characters; at most ${maxRequestBytes / 4} are accepted. Shorten it before the call.`);
  }
  return action.toWellFormed();
}
