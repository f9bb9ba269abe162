/** Ids of the gates in the order in which they are run. */
export const gateIds = [
  "extract",
  "parse",
  "load",
  "grounded",
  "shape",
  "robustness",
  "resources",
  "determinism",
  "variety",
  "pre-satisfied",
  "solvable",
  "not-trivial",
  "leak",
] as const;

export type GateId = (typeof gateIds)[number];

interface Switch {
  readonly enabled: boolean;
}

/** Limits of the gates. `extract`, `parse` and `load` have no switch: without a loaded program there is nothing to judge. */
export interface GatesConfig {
  /** Seeds on which every gate probes; the first half is 0, 1, 2 …, the rest is derived from the admission's seed. */
  readonly probeSeeds: number;
  /** Turn limit of a run; a program may declare a lower one. */
  readonly maxTurns: number;
  /** Wall clock of one gate, in milliseconds, looked at between calls of the sandbox; past it the gate rejects (`timeout`). */
  readonly wallMsPerGate: number;
  readonly grounded: Switch & {
    /** Distinct content words of the document that the program's strings must use. */
    readonly minGroundedWords: number;
    /** Largest share of the program's content words that may be foreign to the document, in [0, 1]. */
    readonly maxForeignShare: number;
  };
  readonly shape: Switch & {
    /** Rewards must be finite and at most this in absolute value. */
    readonly maxAbsoluteReward: number;
  };
  readonly robustness: Switch;
  readonly resources: Switch;
  readonly determinism: Switch & { readonly seeds: number };
  readonly variety: Switch & {
    /** Distinct first observations or distinct solutions, whichever are more, over the probe seeds. */
    readonly minDistinct: number;
  };
  readonly "pre-satisfied": Switch;
  readonly solvable: Switch;
  readonly "not-trivial": Switch & {
    /** Highest admissible win rate of the best trivial policy. */
    readonly maxWinRate: number;
    /** The best policies of the probe seeds that are measured again on fresh seeds. */
    readonly finalists: number;
    readonly finalSeeds: number;
  };
  readonly leak: Switch & {
    /** Share of the probe seeds on which a solution may be found by its place in the text, or verbatim when it is long. */
    readonly maxShare: number;
    /** From this many tokens on a solution that is printed and is no listed option counts as leaked, wherever it stands. */
    readonly longTokens: number;
    /** Seeds on which a cue found on the probe seeds is measured again. */
    readonly freshSeeds: number;
  };
}

/** Defaults of every limit. */
export const defaultGates: GatesConfig = {
  probeSeeds: 8,
  maxTurns: 25,
  wallMsPerGate: 30_000,
  grounded: { enabled: true, minGroundedWords: 2, maxForeignShare: 0.9 },
  shape: { enabled: true, maxAbsoluteReward: 10 },
  robustness: { enabled: true },
  resources: { enabled: true },
  determinism: { enabled: true, seeds: 2 },
  variety: { enabled: true, minDistinct: 4 },
  "pre-satisfied": { enabled: true },
  solvable: { enabled: true },
  "not-trivial": { enabled: true, maxWinRate: 0.5, finalists: 2, finalSeeds: 24 },
  leak: { enabled: true, maxShare: 0.7, longTokens: 3, freshSeeds: 16 },
};
