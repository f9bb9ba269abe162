import type { StoredScore } from "../evaluation/stored.ts";
import type { Spent } from "../policy/openai/spending.ts";
import type { IterationMetrics } from "../report/iteration-metrics.ts";

/** Stages of an iteration, in order, and the work around it. */
export type Stage = "prepare" | "design" | "gates" | "hints" | "mutants" | "play" | "update" | "checkpoint" | "evaluate";

/** What happens in a run while it happens. `seconds` are for people and never enter the record's digest. */
export type RunEvent =
  | { readonly kind: "start"; readonly directory: string; readonly iterations: number; readonly from: number; readonly configDigest: string; readonly notes: readonly string[] }
  | { readonly kind: "stage"; readonly iteration: number; readonly stage: Stage; readonly done: number; readonly total: number; readonly tokens: number; readonly seconds: number }
  | { readonly kind: "iteration"; readonly iteration: number; readonly metrics: IterationMetrics; readonly update: Readonly<Record<string, number>>; readonly tokens: number; readonly seconds: number }
  | { readonly kind: "evaluation"; readonly iteration: number; readonly scores: readonly StoredScore[] }
  /** What the user should know while the run waits or before it goes on. */
  | { readonly kind: "notice"; readonly text: string }
  | { readonly kind: "end"; readonly directory: string; readonly iterations: number; readonly digest: string; readonly seconds: number }
  /** What each endpoint took in this process, by what it is for. The last event, whatever happened; not told where there is no endpoint. */
  | { readonly kind: "spent"; readonly spent: Readonly<Record<string, Spent>> };

export type Listener = (event: RunEvent) => void;
