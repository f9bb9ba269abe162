import { programId, type Program } from "../core/environment.ts";
import { SpadeError } from "../core/errors.ts";
import { ChildDeath } from "./child-process.ts";
import { asSeed, type Branch, budgetLeft, exhausted, type Instance, isStart, itemLimits, nameLimit, newInstance, nothingSpent, replayItems, slotOf } from "./instance.ts";
import type { Lane, Tenant } from "./lane.ts";
import { maxProgramBytes, maxRequestChars, sliceMs } from "./limits.ts";
import type { Item, Outcome } from "./messages.ts";
import { type KnownPace, Pace } from "./pace.ts";
import { failed, readAbout, readFacts, readForkState, readOutcome, readReset, readStep, readStrings, withinLimit } from "./replies.ts";
import type { About, CallOptions, Fork, GuestFailure, GuestResult, InstanceId, Limits, PastCall, ProgramFacts, ProgramHandle, ResetValue, Spent, StepValue } from "./sandbox.ts";
import { type Call, WorkQueue } from "./work-queue.ts";

interface Planned {
  readonly item: Item;
  /** Absent for a call that is made again, and for a drop. */
  readonly call?: Call<unknown>;
  readonly instance?: Instance;
}

export interface LoadedProgramOptions {
  readonly key: number;
  readonly program: Program;
  readonly lane: Lane;
  readonly isUrgent: boolean;
  /** Where the program goes when a call of it was slow. */
  readonly slowLane: Lane;
  readonly limits: Limits;
  readonly known: KnownPace;
  /** A key that no program of the sandbox has. */
  readonly newKey: () => number;
}

/** A program, its instances, and where they are. Guest state that a dead child held is made again: a fork's state, then replay. */
export class LoadedProgram implements ProgramHandle, Tenant {
  readonly key: number;
  readonly lane: number;
  readonly isUrgent: boolean;
  private readonly options: LoadedProgramOptions;
  private readonly limits: Limits;
  private holder: Lane;
  private readonly queue = new WorkQueue();
  private readonly instances = new Map<InstanceId, Instance>();
  private readonly toDrop: InstanceId[] = [];
  private readonly toUnload: number[] = [];
  private isLoaded = false;
  private isClosed = false;
  private nextInstance = 0;
  private readonly pace: Pace;
  private condemned: GuestFailure | undefined;
  private factsRead: ProgramFacts | undefined;

  constructor(options: LoadedProgramOptions) {
    this.options = options;
    this.key = options.key;
    this.lane = options.lane.index;
    this.isUrgent = options.isUrgent;
    this.limits = options.limits;
    this.pace = new Pace(options.limits, options.known);
    this.holder = this.pace.isSlow ? options.slowLane : options.lane;
    const { source } = options.program;
    if (Buffer.byteLength(source) > maxProgramBytes) {
      throw new SpadeError("sandbox.too-large", `The program has ${source.length} characters; at most ${maxProgramBytes} bytes are accepted.`);
    }
  }

  get facts(): ProgramFacts {
    if (this.factsRead === undefined) throw new SpadeError("sandbox.not-loaded", "The program has not been loaded yet.");
    return this.factsRead;
  }

  get hasWork(): boolean {
    return !this.queue.isEmpty || this.toUnload.length > 0;
  }

  get patienceMs(): number {
    return this.pace.patienceMs(this.isLoaded ? "call" : "load");
  }

  settleIn(lane: Lane): void {
    this.holder.remove(this);
    this.onUnloaded();
    this.holder = lane;
    lane.add(this);
  }

  onUnloaded(key?: number): void {
    for (const instance of this.instances.values()) {
      const { branch } = instance;
      if (key !== undefined && key !== (branch?.key ?? this.key)) continue;
      if (branch !== undefined) branch.isLoaded = false;
      delete instance.made;
    }
    if (key !== undefined && key !== this.key) return;
    this.isLoaded = false;
    this.toDrop.length = 0;
    if (key === undefined) this.toUnload.length = 0;
  }

  /** Loads the program for the first time. */
  async open(): Promise<GuestResult<ProgramHandle>> {
    this.holder.add(this);
    await this.enqueue([]);
    if (this.condemned === undefined) return { ok: true, value: this };
    this.holder.remove(this);
    return { ok: false, failure: this.condemned };
  }

  async create(seeds: readonly number[], options?: CallOptions): Promise<readonly GuestResult<{ readonly instance: InstanceId } & ResetValue>[]> {
    this.assertOpen();
    const args = seeds.map(asSeed);
    const created = this.addInstances(seeds.length);
    const results = await this.calls(created.map(({ id }, i) => ({ op: "create", instance: id, arg: args[i] ?? 0, read: readReset })), options);
    return results.map((result, i) => {
      const instance = created[i]?.id ?? NaN;
      if (result.ok) return { ok: true, value: { instance, ...result.value } };
      this.instances.delete(instance);
      return result;
    });
  }

  async reset(calls: readonly { readonly instance: InstanceId; readonly seed: number }[], options?: CallOptions): Promise<readonly GuestResult<ResetValue>[]> {
    return this.calls(calls.map(({ instance, seed }) => ({ op: "reset", instance: this.known(instance).id, arg: asSeed(seed), read: readReset })), options);
  }

  async step(calls: readonly { readonly instance: InstanceId; readonly action: string }[], options?: CallOptions): Promise<readonly GuestResult<StepValue>[]> {
    return this.calls(calls.map(({ instance, action }) => ({ op: "step", instance: this.known(instance).id, arg: this.asAction(action), read: readStep })), options);
  }

  async solution(instances: readonly InstanceId[], options?: CallOptions): Promise<readonly GuestResult<readonly string[]>[]> {
    return this.calls(instances.map((instance) => ({ op: "solution", instance: this.known(instance).id, read: readStrings })), options);
  }

  async about(instances: readonly InstanceId[], options?: CallOptions): Promise<readonly GuestResult<About>[]> {
    return this.calls(instances.map((instance) => ({ op: "about", instance: this.known(instance).id, read: readAbout })), options);
  }

  spent(instance: InstanceId): Spent {
    return this.known(instance).spent;
  }

  async fork(instance: InstanceId): Promise<GuestResult<Fork>> {
    const { id } = this.known(instance);
    // Read while the answers are gone through, so that the history is the one of this moment.
    const [result] = await this.calls([{ op: "fork", instance: id, read: (value: unknown) => this.forkOf(id, readForkState(value)) }]);
    return result ?? failed({ code: "protocol", message: "no answer" });
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- misuse must reject, not throw
  async restore(fork: Fork): Promise<InstanceId> {
    this.assertOpen();
    if (fork.programId !== programId(this.options.program)) {
      throw new SpadeError("sandbox.fork", `The fork is of program ${fork.programId}, this is ${programId(this.options.program)}. Open the program it was made of.`);
    }
    const [instance] = this.addInstances(1);
    if (instance === undefined) throw new SpadeError("internal.invariant", "no instance was added");
    instance.history.push(...fork.calls);
    instance.spent = fork.spent;
    if (fork.state !== undefined) instance.branch = { key: this.options.newKey(), state: fork.state, calls: fork.calls.length, isLoaded: false };
    return instance.id;
  }

  release(instances: readonly InstanceId[]): Promise<void> {
    for (const id of instances) {
      const instance = this.instances.get(id);
      if (instance === undefined) continue;
      this.instances.delete(id);
      if (instance.branch?.isLoaded === true) this.toUnload.push(instance.branch.key);
      else if (instance.branch === undefined && instance.made !== undefined) this.toDrop.push(id);
    }
    if (this.toUnload.length > 0) this.holder.wake(this);
    return Promise.resolve();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.queue.refuseAll(closedError());
    this.toUnload.push(...this.loadedKeys());
    this.instances.clear();
    await this.enqueue([]);
    this.holder.remove(this);
  }

  async serve(): Promise<void> {
    try {
      await this.unload();
      this.answerDead();
      if (!this.isClosed && this.condemned === undefined && !(await this.load())) await this.request();
    } catch (error) {
      this.toUnload.length = 0;
      this.queue.refuseAll(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.answerDead();
    this.queue.settle(this.isLoaded || this.isClosed || this.condemned !== undefined);
    const home = this.pace.isSlow ? this.options.slowLane : this.options.lane;
    if (this.holder !== home && !this.isClosed) await this.moveTo(home);
  }

  private assertOpen(): void {
    if (this.isClosed) throw closedError();
  }

  private known(id: InstanceId): Instance {
    this.assertOpen();
    const instance = this.instances.get(id);
    if (instance !== undefined) return instance;
    throw new SpadeError("sandbox.unknown-instance", `Instance ${id} is not one of this program: it was never created here, failed to, or was released.`);
  }

  private addInstances(count: number): Instance[] {
    if (this.instances.size + count > this.limits.maxInstances) {
      throw new SpadeError("sandbox.too-many-instances", `${this.instances.size} instances are open and ${count} more were asked for; maxInstances is ${this.limits.maxInstances}. Release some.`);
    }
    const added = Array.from({ length: count }, () => newInstance(this.nextInstance++));
    for (const instance of added) this.instances.set(instance.id, instance);
    return added;
  }

  private asAction(action: string): string {
    const { maxActionChars } = this.limits;
    if (action.length <= maxActionChars) return action.toWellFormed();
    throw new SpadeError("sandbox.action-too-large", `An action has ${action.length} characters; maxActionChars is ${maxActionChars}. Shorten it before the call.`);
  }

  private forkOf(id: InstanceId, read: ReturnType<typeof readForkState>): Fork | undefined {
    const instance = this.instances.get(id);
    if (instance === undefined || read === undefined) return undefined;
    const { image, bytes } = read;
    const isUsable = image !== undefined && bytes !== undefined && Buffer.byteLength(bytes, "base64") <= this.limits.maxForkBytes;
    const state = !isUsable ? {} : { state: { image, bytes, slot: slotOf(instance) } };
    return { programId: programId(this.options.program), calls: [...instance.history], spent: instance.spent, ...state };
  }

  private calls<T>(calls: readonly Call<T>[], options?: CallOptions): Promise<readonly GuestResult<T>[]> {
    this.assertOpen();
    return calls.length === 0 ? Promise.resolve([]) : this.enqueue(calls, options);
  }

  private enqueue<T>(calls: readonly Call<T>[], options?: CallOptions): Promise<readonly GuestResult<T>[]> {
    const results = this.queue.add(calls, options);
    this.holder.wake(this);
    return results;
  }

  /** Loads the program into the child if it is not there; whether a call was made for it. */
  private async load(): Promise<boolean> {
    if (this.isLoaded) return false;
    const isStill = this.sameChild();
    const { language, source } = this.options.program;
    const reply = await this.holder.ask({ kind: "load", program: this.key, language, source });
    const outcome: Outcome = reply instanceof ChildDeath ? { trap: reply } : (reply.outcomes[0] ?? { trap: { code: "protocol", message: "no answer" } });
    this.pace.loaded(outcome.wallMs ?? 0);
    const result = readOutcome(outcome, readFacts);
    if (!result.ok) {
      this.condemned = result.failure;
      return true;
    }
    this.factsRead ??= result.value;
    this.isLoaded = isStill();
    return true;
  }

  /** Tells later whether the program's lane still has the child it has now. */
  private sameChild(): () => boolean {
    const { holder } = this;
    const { generation } = holder;
    return () => this.holder === holder && holder.generation === generation;
  }

  private async unload(): Promise<void> {
    for (let key = this.toUnload.shift(); key !== undefined; key = this.toUnload.shift()) await this.holder.ask({ kind: "unload", program: key });
  }

  private loadedKeys(): number[] {
    const branches = [...this.instances.values()].flatMap(({ branch }) => (branch?.isLoaded === true ? [branch.key] : []));
    return this.isLoaded ? [this.key, ...branches] : branches;
  }

  /** Goes to another lane; what the child of this one held is made again there. */
  private async moveTo(lane: Lane): Promise<void> {
    const from = this.holder;
    const keys = [...this.loadedKeys(), ...this.toUnload];
    this.settleIn(lane);
    if (this.hasWork) lane.wake(this);
    try {
      for (const key of keys) await from.ask({ kind: "unload", program: key });
    } catch {
      // The sandbox is closing: the child is gone, and with it what it held.
    }
  }

  /** Answers calls that cannot be made any more. */
  private answerDead(): void {
    for (const call of this.queue.pending()) {
      const instance = this.instances.get(call.instance);
      const failure = this.condemned ?? (instance === undefined ? { code: "protocol", message: "the instance was released before the call" } : instance.failure);
      if (failure !== undefined) this.queue.answer(call, failed(failure));
    }
  }

  /** One request for the first call that waits and others that can go with it. */
  private async request(): Promise<void> {
    const pending = this.queue.pending();
    const first = pending[0] === undefined ? undefined : this.instances.get(pending[0].instance);
    if (first === undefined || !(await this.enter(first))) return;
    const { branch } = first;
    const plan = this.plan(pending.filter((call) => this.instances.get(call.instance)?.branch === branch), branch);
    if (plan.length === 0) return;
    const reply = await this.holder.ask({ kind: "run", program: branch?.key ?? this.key, items: plan.map(({ item }) => item), sliceMs });
    if (reply instanceof ChildDeath) {
      const { item, instance } = plan[reply.itemIndex] ?? {};
      const failure = { code: reply.code, message: reply.message };
      if (item !== undefined && instance !== undefined) this.fail(instance, nameLimit(failure, item));
      return;
    }
    const isThere = branch?.isLoaded ?? this.isLoaded;
    reply.outcomes.forEach((outcome, i) => this.take(plan[i], outcome, isThere));
    if (reply.lost) this.onUnloadedInstances(branch);
  }

  /** Puts an instance's branch into the child; an instance whose state the child refuses is replayed beside the others instead. */
  private async enter(instance: Instance): Promise<boolean> {
    const { branch } = instance;
    if (branch === undefined || branch.isLoaded) return true;
    const isStill = this.sameChild();
    const { image, bytes } = branch.state;
    const reply = await this.holder.ask({ kind: "restore", program: branch.key, of: this.key, image, state: bytes });
    if (reply instanceof ChildDeath || reply.outcomes[0] === undefined || "trap" in reply.outcomes[0]) {
      delete instance.branch;
      return false;
    }
    branch.isLoaded = isStill();
    return branch.isLoaded;
  }

  /** What must be dropped and made again first, then calls, as many as one request takes. */
  private plan(calls: readonly Call<unknown>[], branch: Branch | undefined): Planned[] {
    const plan: Planned[] = branch === undefined ? this.toDrop.splice(0).map((slot) => ({ item: { op: "drop", slot, ordinal: 0 } })) : [];
    const counts = new Map<Instance, number>();
    let chars = 0;
    for (const call of calls) {
      const instance = this.instances.get(call.instance);
      if (instance === undefined) continue;
      const planned = counts.get(instance) ?? 0;
      const left = budgetLeft(instance, call.op, this.limits, planned);
      if (planned === 0 && (left.fuel <= 0 || left.wallMs <= 0)) {
        this.fail(instance, exhausted(left.fuel <= 0 ? "episode-fuel" : "episode-timeout"));
        continue;
      }
      const limits = itemLimits(left, this.limits);
      // What an episode has left after a call is known only when the call is over.
      if (planned > 0 && Object.keys(limits).length > 0) break;
      if (!counts.has(instance)) for (const item of replayItems(instance)) plan.push({ item, instance });
      const ordinal = instance.history.length + planned;
      plan.push({ call, instance, item: { op: call.op, slot: slotOf(instance), ordinal, ...limits, ...(call.arg === undefined ? {} : { arg: call.arg }) } });
      counts.set(instance, call.op === "fork" ? planned : planned + 1);
      chars += String(call.arg ?? "").length;
      if (chars > maxRequestChars) break;
    }
    return plan;
  }

  /** Takes one answer. `isThere` tells whether the child still holds what it made. */
  private take(planned: Planned | undefined, outcome: Outcome, isThere: boolean): void {
    if (planned?.instance === undefined) return;
    const { item, call, instance } = planned;
    const cost = { fuel: outcome.fuel ?? 0, wallMs: outcome.wallMs ?? 0 };
    this.pace.called(cost.wallMs);
    const read = withinLimit(readOutcome<unknown>(outcome, call?.read ?? (() => null)), this.limits.maxObservationChars);
    const result = read.ok || !("trap" in outcome) ? read : failed(nameLimit(read.failure, item));
    if (!result.ok) this.pace.refused(result.failure, cost.wallMs);
    if ("trap" in outcome && !result.ok) this.fail(instance, result.failure);
    else if (item.op !== "fork") {
      if (call !== undefined) {
        const { fuel, wallMs } = isStart(item.op) ? nothingSpent : instance.spent;
        instance.history.push({ op: item.op as PastCall["op"], ...(item.arg === undefined ? {} : { arg: item.arg }) });
        instance.spent = { fuel: fuel + cost.fuel, wallMs: wallMs + cost.wallMs };
      }
      if (isThere) instance.made = item.ordinal + 1;
    }
    if (call !== undefined) this.queue.answer(call, result);
  }

  /** After a trap the child has only the program left. */
  private onUnloadedInstances(branch: Branch | undefined): void {
    if (branch !== undefined) branch.isLoaded = false;
    for (const instance of this.instances.values()) if (instance.branch === branch) delete instance.made;
  }

  private fail(instance: Instance, failure: GuestFailure): void {
    instance.failure = failure;
    this.condemned = this.pace.failed(failure) ?? this.condemned;
  }
}

function closedError(): SpadeError {
  return new SpadeError("sandbox.closed", "The program handle is closed. Open the program again.");
}
