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
  "tool-use",
  "necessary",
  "not-trivial",
  "leak",
  "novelty",
  "audit",
] as const;

export type GateId = (typeof gateIds)[number];

interface Switch {
  readonly enabled: boolean;
}

/** Limits of the gates. `extract`, `parse` and `load` have no switch: without a loaded program there is nothing to judge. */
export interface GatesConfig {
  /**
   * `own`: programs written for these gates. `foreign`: programs of other pools, whose `solution()` may be missing or
   * free text; `solvable` and `necessary` are then not applicable, and the record says so.
   */
  readonly profile: "own" | "foreign";
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
  readonly "tool-use": Switch & {
    /** Reset states on which criteria are evaluated and solutions replayed. */
    readonly seeds: number;
    /** Declared tools that the solution of a seed leaves unused. */
    readonly minDistractors: number;
  };
  readonly necessary: Switch & {
    /** Steps whose removal must make the solution lose, on at least one probe seed; solutions of one step are not looked at. */
    readonly minNecessarySteps: number;
    /** Highest admissible share of won plays of another probe seed's solution, where the two differ. */
    readonly maxOtherSeedWinRate: number;
  };
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
  /** An archive entry is too near when the program and its text are both more alike than these (Jaccard index, in [0, 1]). */
  readonly novelty: Switch & {
    readonly maxProgramSimilarity: number;
    readonly maxTextSimilarity: number;
  };
  readonly audit: Switch & {
    /** Probe seeds whose first observation the auditor is shown. */
    readonly seeds: number;
  };
  /** Gate 13 for the hint, which is written after admission: `judgeHint`. */
  readonly hint: Switch & {
    readonly maxChars: number;
    /** Share of a solution's pairs of neighbouring tokens that may stand in the hint; solutions of fewer than `minPairs` are not looked at. */
    readonly maxOverlap: number;
    readonly minPairs: number;
    /** Highest admissible win rate of a play that does what the hint literally says; 1: not played. */
    readonly maxWinRate: number;
    /** Seeds on which a play that won too often on the probe seeds is measured again. */
    readonly freshSeeds: number;
  };
  readonly mutants: {
    /**
     * Probability, for each candidate of a run, that a mutant of an admitted design is judged beside it, in [0, 1]. Mutants
     * measure the gates while they work; they are never played, archived, paid or trained on.
     */
    readonly rate: number;
  };
}

/** Defaults of every limit. */
export const defaultGates: GatesConfig = {
  profile: "own",
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
  "tool-use": { enabled: true, seeds: 8, minDistractors: 1 },
  necessary: { enabled: true, minNecessarySteps: 1, maxOtherSeedWinRate: 0.5 },
  "not-trivial": { enabled: true, maxWinRate: 0.5, finalists: 2, finalSeeds: 24 },
  leak: { enabled: true, maxShare: 0.7, longTokens: 3, freshSeeds: 16 },
  novelty: { enabled: true, maxProgramSimilarity: 0.9, maxTextSimilarity: 0.8 },
  audit: { enabled: false, seeds: 2 },
  hint: { enabled: true, maxChars: 2000, maxOverlap: 0.6, minPairs: 4, maxWinRate: 0.5, freshSeeds: 24 },
  mutants: { rate: 0 },
};
