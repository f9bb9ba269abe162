import { deriveSeed } from "../core/seed.ts";
import { playSuite, score } from "../evaluation/evaluate.ts";
import { recordEvaluation, type StoredScore } from "../evaluation/stored.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import { type Dependencies, dialogueOf, stageReporter } from "./dependencies.ts";

/** Fixed seeds of every evaluation, the same for all runs and checkpoints. */
export function evaluationSeeds(count: number): number[] {
  return Array.from({ length: count }, (_, i) => deriveSeed(0, "evaluation", i));
}

/** Plays every suite, sampled and if configured greedily, records the episodes and returns the scores. */
export async function evaluateSuites(iteration: number, deps: Dependencies, writer: IterationWriter): Promise<StoredScore[]> {
  const { config, policy, sandbox, renderer, suites, trainer } = deps;
  const { seedsPerProgram, playsPerSeed, greedy } = config.evaluation;
  const modes = greedy ? (["sampled", "greedy"] as const) : (["sampled"] as const);
  const scores: StoredScore[] = [];
  for (const suite of suites) {
    for (const mode of modes) {
      const report = stageReporter(deps, iteration, "evaluate");
      const options = {
        suite,
        policy,
        sandbox,
        dialogue: dialogueOf(renderer, config),
        seeds: evaluationSeeds(seedsPerProgram),
        plays: playsPerSeed,
        sampling: config.play.sampling,
        greedy: mode === "greedy",
        maxTurns: config.play.maxTurns,
        onProgress: ({ episodesDone, episodes, tokens }: { episodesDone: number; episodes: number; tokens: number }) => report({ done: episodesDone, total: episodes, tokens }),
      };
      const episodes = await playSuite(options);
      recordEvaluation(writer, { suite: suite.name, mode, policyVersion: trainer.policyVersion }, episodes);
      scores.push({ iteration, suite: suite.name, mode, rate: score(episodes, options).overall });
    }
  }
  return scores;
}
