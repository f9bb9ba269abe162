import { SpadeError } from "../core/errors.ts";
import type { Item } from "./messages.ts";
import type { ForkState, GuestFailure, InstanceId, Limits, PastCall, Spent } from "./sandbox.ts";

/** The forked state an instance lives in, apart from its program's other instances. */
export interface Branch {
  /** Key under which the child knows it. */
  readonly key: number;
  readonly state: ForkState;
  /** Calls of the instance's life that are part of the state. */
  readonly calls: number;
  isLoaded: boolean;
}

/** An instance as the parent remembers it: enough to make it again in any child. */
export interface Instance {
  readonly id: InstanceId;
  readonly history: PastCall[];
  spent: Spent;
  /** Absent where the instance lives beside the others. */
  branch?: Branch;
  /** How many of its calls the child's instance has had; absent while the child has none. */
  made?: number;
  /** Set when a call ended from outside: the instance's state is unknown, it answers with this from then on. */
  failure?: GuestFailure;
}

export const nothingSpent: Spent = { fuel: 0, wallMs: 0 };

/** An instance that has had no call. */
export function newInstance(id: InstanceId): Instance {
  return { id, history: [], spent: nothingSpent };
}

/** Calls that must be made again before the next one, in order. */
export function replayItems(instance: Instance): Item[] {
  const { branch, history } = instance;
  const from = instance.made ?? branch?.calls ?? 0;
  return history.slice(from).map((call, i) => ({ ...call, slot: slotOf(instance), ordinal: from + i }));
}

/** Id of the instance inside the child. */
export function slotOf({ id, branch }: Instance): number {
  return branch?.state.slot ?? id;
}

/** Whether a call begins an episode: what was spent before does not count. */
export function isStart(op: Item["op"]): boolean {
  return op === "create" || op === "reset";
}

/** What is left of an episode when `planned` more calls may each take all that a call may. */
export function budgetLeft(instance: Instance, op: Item["op"], limits: Limits, planned: number): Spent {
  const { fuel, wallMs } = isStart(op) && planned === 0 ? nothingSpent : instance.spent;
  return {
    fuel: limits.fuelPerEpisode - fuel - planned * limits.fuelPerCall,
    wallMs: limits.wallMsPerEpisode - wallMs - planned * limits.wallMsPerCall,
  };
}

/** The limits of an item for which an episode has this much left; empty where the limits of a call are lower. */
export function itemLimits(left: Spent, limits: Limits): { readonly fuel?: number; readonly wallMs?: number } {
  return {
    ...(left.fuel < limits.fuelPerCall ? { fuel: left.fuel } : {}),
    ...(left.wallMs < limits.wallMsPerCall ? { wallMs: left.wallMs } : {}),
  };
}

/** The failure of a call, named after the episode's limit where that was the one it ran into. */
export function nameLimit(failure: GuestFailure, item: Item): GuestFailure {
  if (failure.code === "fuel" && item.fuel !== undefined) return exhausted("episode-fuel");
  if (failure.code === "timeout" && item.wallMs !== undefined) return exhausted("episode-timeout");
  return failure;
}

/** The failure of an episode that has used up one of its totals. */
export function exhausted(code: "episode-fuel" | "episode-timeout"): GuestFailure {
  return { code, message: `the episode used all its ${code === "episode-fuel" ? "fuel" : "time"}` };
}

/** @throws sandbox.seed */
export function asSeed(seed: number): number {
  if (!Number.isSafeInteger(seed) || seed < 0) throw new SpadeError("sandbox.seed", `Seed ${String(seed)} is not a non-negative integer.`);
  return seed;
}
