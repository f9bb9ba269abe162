import { parseArgs } from "node:util";
import { resolveConfig } from "../src/config/load.ts";
import type { PlayedEpisode } from "../src/credit/returns.ts";
import { collectReturns } from "../src/credit/returns.ts";
import type { DesignerReward, RegretKind } from "../src/credit/reward.ts";
import { regretComponent } from "../src/credit/reward.ts";
import { mean, standardErrorOfMean, studentQuantile } from "../src/credit/statistics.ts";
import { Rng, deriveSeed } from "../src/core/seed.ts";

/** Size of the null bench. */
export interface NullBenchOptions {
  readonly environments: number;
  readonly seedsPerEnvironment: number;
  readonly playsPerSeed: number;
  /** Independent repetitions of the whole bench. */
  readonly replications: number;
  readonly seed: number;
}

/** What an ineffective hint earns, on average over all environments and replications, in units of the regret component. */
export interface NullBenchResult {
  readonly estimate: RegretKind;
  readonly mean: number;
  /** Standard error of `mean`, from the replications' means. */
  readonly standardError: number;
  /** Share of replications whose own 95 % interval, over its environments, contains 0. */
  readonly coverage: number;
}

const kinds: readonly RegretKind[] = ["paired", "lowerBound", "floored"];

/**
 * Pays the blend's regret component for hints that change nothing: in both arms a win on a seed has the same probability. Win rates
 * spread over the environments from .05 to .95, and over the seeds of one environment around its own.
 */
export function nullBench(options: NullBenchOptions): readonly NullBenchResult[] {
  const paid = new Map<RegretKind, number[][]>(kinds.map((kind) => [kind, []]));
  for (let replication = 0; replication < options.replications; replication++) {
    const returns = Array.from({ length: options.environments }, (_, environment) => collectReturns(simulate(options, replication, environment)));
    for (const kind of kinds) {
      const spec = blend(kind);
      paid.get(kind)?.push(returns.flatMap((environment) => regretComponent(environment, spec) ?? []));
    }
  }
  return kinds.map((estimate) => {
    const replications = paid.get(estimate) ?? [];
    const means = replications.map(mean);
    const covered = replications.filter((values) => Math.abs(mean(values)) <= standardErrorOfMean(values) * studentQuantile(0.95, values.length - 1));
    return { estimate, mean: mean(means), standardError: standardErrorOfMean(means), coverage: covered.length / replications.length };
  });
}

/** The blend of the configuration's defaults with one of its regret estimates. */
function blend(regretEstimate: RegretKind): Extract<DesignerReward, { kind: "blend" }> {
  const reward: DesignerReward = resolveConfig("null bench", { designerReward: { kind: "blend", regretEstimate } }).config.designerReward;
  if (reward.kind !== "blend") throw new TypeError("the default designer reward is a blend");
  return reward;
}

function simulate(options: NullBenchOptions, replication: number, environment: number): readonly PlayedEpisode[] {
  const rng = new Rng(deriveSeed(options.seed, "null", replication, environment));
  const winRate = 0.05 + (0.9 * environment) / Math.max(1, options.environments - 1);
  const episodes: PlayedEpisode[] = [];
  for (let seed = 0; seed < options.seedsPerEnvironment; seed++) {
    const onSeed = Math.max(0, Math.min(1, winRate + 0.4 * (rng.float() - 0.5)));
    for (const arm of ["plain", "hint"] as const) {
      for (let play = 0; play < options.playsPerSeed; play++) {
        episodes.push({ arm, seed, play, outcome: { kind: "terminated", reward: rng.chance(onSeed) ? 1 : 0 } });
      }
    }
  }
  return episodes;
}

const usage = "node bench/main.ts null [--environments 24] [--seeds 4] [--plays 4] [--replications 400] [--seed 1] [--json]";

/** Runs the null bench and prints its table. */
export function run(args: readonly string[]): void {
  const { values } = parseArgs({
    args: [...args],
    options: {
      environments: { type: "string", default: "24" },
      seeds: { type: "string", default: "4" },
      plays: { type: "string", default: "4" },
      replications: { type: "string", default: "400" },
      seed: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
    },
  });
  const options: NullBenchOptions = {
    environments: whole("environments", values.environments, 20),
    seedsPerEnvironment: whole("seeds", values.seeds, 2),
    playsPerSeed: whole("plays", values.plays, 2),
    replications: whole("replications", values.replications, 2),
    seed: whole("seed", values.seed, 0),
  };
  const results = nullBench(options);
  if (values.json) process.stdout.write(`${JSON.stringify({ options, results })}\n`);
  else process.stdout.write(describe(options, results));
}

function whole(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least) throw new TypeError(`--${name} must be a whole number of at least ${least} (got "${text}"). Usage: ${usage}`);
  return value;
}

function describe(options: NullBenchOptions, results: readonly NullBenchResult[]): string {
  const { environments, seedsPerEnvironment, playsPerSeed, replications } = options;
  const rows = results.map(({ estimate, mean: paid, standardError, coverage }) =>
    [estimate.padEnd(11), paid.toFixed(4).padStart(8), (1.96 * standardError).toFixed(4).padStart(8), `${(100 * coverage).toFixed(1)} %`.padStart(10)].join("  "),
  );
  return [
    `What a hint of no effect earns: regret component, ${environments} environments, win rates .05-.95, ${seedsPerEnvironment} seeds x ${playsPerSeed} plays per arm, ${replications} replications`,
    `estimate        mean  ± (95 %)   0 covered`,
    ...rows,
    "0 covered: share of single benches whose own 95 % interval over environments contains 0 (95 % is right).",
    "",
  ].join("\n");
}
