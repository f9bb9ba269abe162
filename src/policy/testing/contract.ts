import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { append } from "../../core/trajectory.ts";
import type { TrainableTrajectory } from "../../core/trajectory.ts";
import type { Loss, Optimiser, Policy, Sample, SampleRequest, Trainer, TrainingRow } from "../policy.ts";

/** A policy as the contract tries it. */
export interface PolicySubject extends AsyncDisposable {
  readonly policy: Policy;
  /** A token that ends a response. */
  readonly stopToken: number;
  /** A prompt that the policy can answer; `i` gives different ones. */
  readonly prompt: (i: number) => Int32Array;
}

/** A policy with its trainer as the contract tries them. Tokens 1 to 6 exist and token 5 is not the stop token. */
export interface TrainerSubject extends PolicySubject {
  readonly trainer: Trainer;
  /** At which twelve updates teach it to say token 5. */
  readonly learningRate: number;
  /** Another one, as a new process would make it, with other initial weights where it has any. */
  readonly another: () => Promise<{ readonly policy: Policy; readonly trainer: Trainer }>;
}

const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 6 };
const otherSettings: Optimiser = { learningRate: 0, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1, minibatches: 2 };
/** Loss that all engines have. */
export const contractLoss: Extract<Loss, { kind: "policyGradient" }> = { kind: "policyGradient", clipLow: 0.2, clipHigh: 0.28, importanceCap: 2, klCoefficient: 0, entropyCoefficient: 0 };

/** The optimiser that a subject learns with. */
function optimiserOf({ learningRate }: TrainerSubject): Optimiser {
  return { ...otherSettings, learningRate };
}

function requestsOf({ prompt }: Pick<PolicySubject, "prompt">, count: number, seed: number): SampleRequest[] {
  return Array.from({ length: count }, (_, i) => ({ prompt: prompt(i), sampling, seed: seed * 1000 + i }));
}

/** What every implementation of `Policy` does. `make` gives a fresh one for each test. */
export function policyContract(name: string, make: () => Promise<PolicySubject>): void {
  describe(`${name}: contract of a policy`, () => {
    it("gives one sample per request, in order, and the same again", async () => {
      await using subject = await make();
      const asked = requestsOf(subject, 8, 1);
      const together = await subject.policy.sample(asked);
      expect(together).toHaveLength(8);
      expect(await subject.policy.sample(asked)).toEqual(together);
      expect(await subject.policy.sample(asked.toReversed())).toEqual(together.toReversed());
      expect(await subject.policy.sample([])).toEqual([]);
    });

    it("gives tokens with a log-probability each, ended by the stop token or the limit", async () => {
      await using subject = await make();
      for (const { tokens, logprobs, stop } of await subject.policy.sample(requestsOf(subject, 24, 2))) {
        expect(tokens.length).toBeGreaterThan(0);
        expect(logprobs).toHaveLength(tokens.length);
        expect(logprobs.every((value) => value <= 0 && value > -Infinity)).toBe(true);
        expect(tokens.slice(0, -1).includes(subject.stopToken)).toBe(false);
        if (stop === "stop") expect(tokens.at(-1)).toBe(subject.stopToken);
        else expect(tokens).toHaveLength(sampling.maxTokens);
      }
    });
  });
}

/** What every policy that can be trained does besides, and its trainer. Without `crossEntropy` it must refuse that loss. */
export function trainerContract(name: string, make: () => Promise<TrainerSubject>, { crossEntropy = true }: { readonly crossEntropy?: boolean } = {}): void {
  describe(`${name}: contract of a policy that is trained`, () => {
    learns(make);
    imitates(make, crossEntropy);
    refuses(make);
  });
}

function learns(make: () => Promise<TrainerSubject>): void {
  it("raises the reward of what it samples, one version per update", async () => {
    await using subject = await make();
    const means: number[] = [];
    for (let i = 0; i < 12; i++) {
      const { rows, mean } = await rewardedRows(subject, i);
      means.push(mean);
      const metrics = await subject.trainer.update({ rows, seed: i }, contractLoss, optimiserOf(subject));
      expect(metrics.policyVersion).toBe(i + 1);
      expect(subject.trainer.policyVersion).toBe(i + 1);
      expect(metrics.tokens).toBe(rows.reduce((sum, { trajectory }) => sum + (trajectory.segments[1]?.tokens.length ?? 0), 0));
      expect(metrics.logprobGap).toBeLessThan(1e-4);
      expect(metrics.kl["agent"]).toBeLessThan(1e-6);
      expect(metrics.entropy["agent"]).toBeGreaterThan(0);
      expect(Number.isFinite(metrics.loss)).toBe(true);
    }
    expect(means[0]).toBeLessThan(0.3);
    expect(means.at(-1)).toBeGreaterThan(0.6);
  });

  it("labels samples asked for during an update with the version they come from", async () => {
    await using subject = await make();
    const { rows } = await rewardedRows(subject, 1);
    const update = subject.trainer.update({ rows, seed: 1 }, contractLoss, optimiserOf(subject));
    const [during] = await subject.policy.sample(requestsOf(subject, 1, 5));
    await update;
    const [after] = await subject.policy.sample(requestsOf(subject, 1, 5));
    expect(during).toEqual(after);
    expect(during?.policyVersion).toBe(1);
  });

  it("goes on from a checkpoint as if it had never stopped", async () => {
    await using subject = await make();
    const directory = await mkdtemp(join(tmpdir(), "spade-contract-"));
    try {
      const { rows } = await rewardedRows(subject, 1);
      await subject.trainer.update({ rows, seed: 1 }, contractLoss, optimiserOf(subject));
      await subject.trainer.save(directory);
      const expected = await subject.trainer.update({ rows, seed: 2 }, contractLoss, optimiserOf(subject));
      const { policy, trainer } = await subject.another();
      await trainer.load(directory);
      expect(trainer.policyVersion).toBe(1);
      expect(await trainer.update({ rows, seed: 2 }, contractLoss, optimiserOf(subject))).toEqual(expected);
      const asked = requestsOf(subject, 4, 7);
      expect(await policy.sample(asked)).toEqual(await subject.policy.sample(asked));
      await expect(trainer.load(join(directory, "nowhere"))).rejects.toMatchObject({ code: "policy.checkpoint" });
    } finally {
      await rm(directory, { recursive: true });
    }
  });
}

function imitates(make: () => Promise<TrainerSubject>, crossEntropy: boolean): void {
  it(crossEntropy ? "imitates sampled tokens with cross-entropy" : "refuses cross-entropy", async () => {
    await using subject = await make();
    const { rows } = await rewardedRows(subject, 1);
    const update = async (seed: number): Promise<number> => (await subject.trainer.update({ rows, seed }, { kind: "crossEntropy" }, optimiserOf(subject))).loss;
    if (crossEntropy) expect(await update(0)).toBeGreaterThan(await update(1));
    else await expect(update(0)).rejects.toMatchObject({ code: "policy.unsupported" });
  });
}

function refuses(make: () => Promise<TrainerSubject>): void {
  it("refuses truncated sampling and a prompt that fills the context; stops at the context's end", async () => {
    await using subject = await make();
    const [request] = requestsOf(subject, 1, 1) as [SampleRequest];
    for (const change of [{ topP: 0.9 }, { topK: 5 }]) {
      await expect(subject.policy.sample([{ ...request, sampling: { ...sampling, ...change } }])).rejects.toMatchObject({ code: "policy.samplingMismatch" });
    }
    const long = (length: number): SampleRequest => ({ prompt: new Int32Array(length).fill(1), sampling: { ...sampling, maxTokens: 100 }, seed: 1 });
    await expect(subject.policy.sample([long(subject.policy.contextLength)])).rejects.toMatchObject({ code: "policy.contextLength" });
    const [sample] = await subject.policy.sample([long(subject.policy.contextLength - 1)]);
    expect(sample?.tokens).toHaveLength(1);
  });

  it("refuses rows older than maxPolicyLag 1", async () => {
    await using subject = await make();
    const { rows } = await rewardedRows(subject, 1);
    await subject.trainer.update({ rows, seed: 1 }, contractLoss, optimiserOf(subject));
    await subject.trainer.update({ rows, seed: 2 }, contractLoss, optimiserOf(subject));
    await expect(subject.trainer.update({ rows, seed: 3 }, contractLoss, optimiserOf(subject))).rejects.toMatchObject({ code: "policy.stale" });
    expect(subject.trainer.policyVersion).toBe(2);
  });

  it("refuses what is not finite, keeps weights and version, and goes on", async () => {
    await using subject = await make();
    const { rows, samples } = await rewardedRows(subject, 1);
    const [first, sample] = [rows[0] as TrainingRow, samples[0] as Sample];
    const broken: TrainingRow = { ...first, trajectory: trajectoryOf(subject.prompt(0), { ...sample, logprobs: sample.logprobs.map(() => NaN) }) };
    for (const bad of [[...rows, broken], rows.with(0, { ...first, advantage: Infinity })]) {
      await expect(subject.trainer.update({ rows: bad, seed: 1 }, contractLoss, optimiserOf(subject))).rejects.toMatchObject({ code: expect.stringMatching(/^(engine|policy)\.(nonFinite|request)$/) as string });
    }
    expect(subject.trainer.policyVersion).toBe(0);
    expect((await rewardedRows(subject, 1)).samples).toEqual(samples);
    expect((await subject.trainer.update({ rows, seed: 1 }, contractLoss, optimiserOf(subject))).policyVersion).toBe(1);
  });
}

function trajectoryOf(prompt: Int32Array, sample: Sample): TrainableTrajectory {
  const empty: TrainableTrajectory = { role: "agent", arm: "plain", segments: [{ kind: "prompt", tokens: prompt }] };
  return append(empty, { kind: "sampled", tokens: sample.tokens, logprobs: sample.logprobs, policyVersion: sample.policyVersion });
}

/** Samples and their rows; the advantage is the share of tokens 5 less its mean. */
export async function rewardedRows(subject: Pick<PolicySubject, "policy" | "prompt">, seed: number, count = 48): Promise<{ readonly rows: TrainingRow[]; readonly samples: readonly Sample[]; readonly mean: number }> {
  const asked = requestsOf(subject, count, seed);
  const samples = await subject.policy.sample(asked);
  const rewards = samples.map(({ tokens }) => tokens.filter((token) => token === 5).length / tokens.length);
  const mean = rewards.reduce((a, b) => a + b) / rewards.length;
  return { mean, samples, rows: samples.map((sample, i) => ({ trajectory: trajectoryOf(subject.prompt(i), sample), advantage: ((rewards[i] ?? 0) - mean) * 4, weight: 1, temperature: 1 })) };
}
