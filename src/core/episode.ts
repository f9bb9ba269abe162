import type { Arm } from "./role.ts";
import type { Trajectory } from "./trajectory.ts";

/** How an episode ended. A failure is not a return (invariant 6). */
export type Outcome =
  | { readonly kind: "terminated"; readonly reward: number }
  | { readonly kind: "truncated"; readonly reason: "environment" | "turns" | "context" | "length" | "action" }
  | { readonly kind: "failed"; readonly boundary: "environment" | "sandbox" | "policy"; readonly code: string };

/** What a tool-use program made of a response: what it repaired, and what it could not read. */
export interface ParseReport {
  readonly warnings: readonly string[];
  readonly errors: readonly string[];
}

/** One turn: what was seen, what was done. Text is for people and reports; training uses the trajectory's tokens. */
export interface Turn {
  readonly observation: string;
  readonly response: string;
  /** Absent when the response holds no action. */
  readonly action?: string;
  readonly reward: number;
  /** Of tool-use programs only. */
  readonly parse?: ParseReport;
}

export interface Episode {
  /** Unique in the run. */
  readonly id: string;
  readonly environmentId: string;
  readonly arm: Arm;
  /** Seed given to `reset`; both arms use one list (invariant 5). */
  readonly seed: number;
  /** Index of the play on this seed, from 0. */
  readonly play: number;
  readonly trajectory: Trajectory;
  readonly turns: readonly Turn[];
  readonly outcome: Outcome;
}

/**
 * Outcome return (algorithm, section 2): the last step's reward clamped to [-1, 1] if terminated, 0 if truncated,
 * absent if the episode failed.
 */
export function episodeReturn(outcome: Outcome): number | undefined {
  switch (outcome.kind) {
    case "terminated":
      return Math.max(-1, Math.min(1, outcome.reward));
    case "truncated":
      return 0;
    case "failed":
      return undefined;
  }
}

/** A win is a return above 0.5 (reference behaviour); used for win rates. */
export function isWin(episodeReturnValue: number): boolean {
  return episodeReturnValue > 0.5;
}
