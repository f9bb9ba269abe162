import { setImmediate as afterOthers } from "node:timers/promises";
import { monotonicClock } from "../core/clock.ts";
import { SpadeError } from "../core/errors.ts";
import type { ActionForm, Program } from "../core/environment.ts";
import type { CallOptions, GuestFailure, GuestResult, InstanceId, ProgramHandle, Sandbox, StepValue } from "../sandbox/sandbox.ts";

/** A fault that ended one environment call of an episode. */
export interface Fault {
  readonly boundary: "environment" | "sandbox";
  readonly code: string;
}

export type Answer<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly fault: Fault };

interface Step {
  readonly member: number;
  readonly action: string;
}

interface AskedStep extends Step {
  readonly resolve: (answer: Answer<StepValue>) => void;
  readonly reject: (error: unknown) => void;
}

interface Member {
  readonly seed: number;
  readonly actions: string[];
  /** Absent once the member has failed or left. */
  instance?: InstanceId;
}

/**
 * Instances of one program, one per episode. Steps that are asked for while others are made go together in the next batch. When the sandbox itself fails (it throws), the program
 * is opened again, the living instances are replayed from seed and actions, and the call is made once more; if that
 * fails too, the fault is `sandbox` and voids the episodes concerned.
 */
export class Cohort {
  private readonly sandbox: Sandbox;
  private readonly program: Program;
  private readonly members: Member[];
  private readonly asked: AskedStep[] = [];
  private stepping: Promise<void> | undefined;
  private handle: ProgramHandle | undefined;
  /** What the program takes as an action; known after the start. */
  actionForm: ActionForm = "boxed";

  constructor(sandbox: Sandbox, program: Program, seeds: readonly number[]) {
    this.sandbox = sandbox;
    this.program = program;
    this.members = seeds.map((seed) => ({ seed, actions: [] }));
  }

  /** Opens the program and resets one instance per seed; first observations in order. */
  async start(): Promise<Answer<string>[]> {
    const everyone = this.members.map((_, index) => index);
    return this.guarded(everyone, async () => {
      await this.closeHandle();
      return this.create(everyone);
    });
  }

  /** Steps a member, identified by its index in the seeds' order; it has no other step under way. */
  step(member: number, action: string): Promise<Answer<StepValue>> {
    return new Promise((resolve, reject) => {
      this.asked.push({ member, action, resolve, reject });
      this.stepping ??= this.stepAsked();
    });
  }

  private async stepAsked(): Promise<void> {
    while (this.asked.length > 0) {
      await afterOthers();
      const batch = this.asked.splice(0);
      try {
        const answers = await this.stepAll(batch);
        batch.forEach(({ resolve }, i) => resolve(answers[i] ?? guestFault(undefined)));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.stepping = undefined;
  }

  private async stepAll(calls: readonly Step[]): Promise<Answer<StepValue>[]> {
    const long = this.sandbox.limits.maxActionChars;
    const tooLong = calls.filter(({ action }) => action.length > long);
    if (tooLong.length > 0) return this.stepWithout(tooLong, calls);
    let fresh = true;
    const indices = calls.map((call) => call.member);
    const answers = await this.guarded(indices, async () => {
      if (!fresh) await this.replay();
      fresh = false;
      return this.stepOnce(calls);
    });
    calls.forEach((call, i) => {
      if (answers[i]?.ok === true) this.member(call.member).actions.push(call.action);
      else delete this.member(call.member).instance;
    });
    return answers;
  }

  /** Steps all but the members whose action is longer than the sandbox takes; only they fail. */
  private async stepWithout(tooLong: readonly Step[], calls: readonly Step[]): Promise<Answer<StepValue>[]> {
    const rest = calls.filter((call) => !tooLong.includes(call));
    const answers = new Map((await this.stepAll(rest)).map((answer, i) => [rest[i], answer]));
    for (const { member } of tooLong) delete this.member(member).instance;
    return calls.map((call) => answers.get(call) ?? { ok: false, fault: { boundary: "sandbox", code: "sandbox.action-too-large" } });
  }

  /** Frees members whose episodes are over. */
  async leave(indices: readonly number[]): Promise<void> {
    const instances = indices.flatMap((index) => this.members[index]?.instance ?? []);
    for (const index of indices) delete this.members[index]?.instance;
    try {
      if (instances.length > 0) await this.handle?.release(instances);
    } catch {
      // Cleanup: a child that cannot free an instance is found out by the next call.
    }
  }

  async close(): Promise<void> {
    await this.closeHandle();
  }

  private member(index: number): Member {
    const member = this.members[index];
    if (member === undefined) throw new SpadeError("internal.invariant", `Cohort has no member ${index}; it has ${this.members.length}.`);
    return member;
  }

  private async create(indices: readonly number[]): Promise<Answer<string>[]> {
    const opened = await this.sandbox.open(this.program);
    if (!opened.ok) return indices.map(() => guestFault(opened.failure));
    this.handle = opened.value;
    this.actionForm = opened.value.facts.actionForm;
    const results = await this.handle.create(indices.map((index) => this.member(index).seed), this.deadline());
    return indices.map((index, i) => {
      const result = results[i];
      if (result?.ok !== true) {
        delete this.member(index).instance;
        return guestFault(result?.failure);
      }
      this.member(index).instance = result.value.instance;
      return { ok: true, value: result.value.observation };
    });
  }

  /** Rebuilds the living members in a freshly opened program: seed, then the actions so far. */
  private async replay(): Promise<void> {
    const living = this.members.flatMap((member, index) => (member.instance === undefined ? [] : [index]));
    await this.closeHandle();
    await this.create(living);
    const longest = Math.max(0, ...living.map((index) => this.member(index).actions.length));
    for (let turn = 0; turn < longest; turn++) {
      const calls = living.flatMap((member) => {
        const action = this.member(member).actions[turn];
        return action === undefined ? [] : [{ member, action }];
      });
      await this.stepOnce(calls);
    }
  }

  private async stepOnce(calls: readonly Step[]): Promise<Answer<StepValue>[]> {
    const { handle } = this;
    if (handle === undefined) throw new SpadeError("sandbox.closed", "A step was asked of a program that is not open. Open it again.");
    const live = calls.filter((call) => this.member(call.member).instance !== undefined);
    const results = await handle.step(live.map((call) => ({ instance: this.member(call.member).instance as InstanceId, action: call.action })), this.deadline());
    const byMember = new Map<number, GuestResult<StepValue> | undefined>(live.map((call, i) => [call.member, results[i]]));
    return calls.map((call) => {
      const result = byMember.get(call.member);
      return result?.ok === true ? { ok: true, value: result.value } : guestFault(result?.failure);
    });
  }

  /** A turn, or one of a replay, must be over by then, the start of a child included. */
  private deadline(): CallOptions {
    return { deadlineMs: monotonicClock() + this.sandbox.limits.wallMsPerTurn };
  }

  private async guarded<T>(indices: readonly number[], call: () => Promise<Answer<T>[]>): Promise<Answer<T>[]> {
    try {
      return await call();
    } catch (error) {
      if (!isSandboxError(error)) throw error;
      // There is no time for a second attempt.
      if (error.code === "sandbox.deadline") return indices.map(() => ({ ok: false, fault: { boundary: "sandbox", code: error.code } }));
    }
    try {
      return await call();
    } catch (error) {
      if (!isSandboxError(error)) throw error;
      return indices.map(() => ({ ok: false, fault: { boundary: "sandbox", code: error.code } }));
    }
  }

  private async closeHandle(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    try {
      await handle?.close();
    } catch {
      // Cleanup: the child is gone already.
    }
  }
}

function isSandboxError(error: unknown): error is SpadeError {
  return error instanceof SpadeError && error.boundary === "sandbox";
}

function guestFault(failure: GuestFailure | undefined): { readonly ok: false; readonly fault: Fault } {
  return { ok: false, fault: { boundary: "environment", code: failure?.code ?? "protocol" } };
}
