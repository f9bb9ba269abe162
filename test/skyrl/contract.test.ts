import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { policyContract, rewardedRows, trainerContract, type TrainerSubject } from "../../src/policy/testing/contract.ts";
import { stopToken, testPrompt, vocabularySize } from "../../src/policy/tinker/testing/connect.ts";
import type { Tinker } from "../../src/policy/tinker/tinker.ts";
import { connectTo, cosine, difference, loss, optimiser, rowLogprobs, type Served, sampledLogprobs, serve } from "./harness.ts";
import { lossyProxy } from "./lossy-proxy.ts";
import { writeQwen3 } from "./model-files.ts";

let served: Served;
beforeAll(async () => {
  served = await serve(await writeQwen3(1, { vocabularySize }), "relative");
});
afterAll(() => served[Symbol.asyncDispose]());

const contextLength = 32;

/** A client; the second one is of the same server, as after a restart of our process, with another adapter. */
async function subject(): Promise<TrainerSubject> {
  const stack = new AsyncDisposableStack();
  const open = async (seed: number): Promise<Tinker> => stack.use(await connectTo(served, { contextLength, lora: { rank: 8, seed, trainAttention: true, trainMlp: true, trainUnembedding: true } }));
  const { policy, trainer } = await open(1);
  return { policy, trainer, stopToken, learningRate: 0.03, prompt: testPrompt, another: () => open(2), [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

policyContract("SkyRL", subject);
trainerContract("SkyRL", subject, { crossEntropy: false });

describe("SkyRL", () => {
  test("an update moves sampled log-probabilities in the direction of the advantages", async () => {
    await using tinker = await connectTo(served, { contextLength, maxPolicyLag: 100 });
    const { rows } = await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 3, 16);
    await tinker.trainer.update({ rows, seed: 0 }, loss, { ...optimiser, learningRate: 1e-3 });
    const moved = difference(await rowLogprobs(tinker.trainer, rows), sampledLogprobs(rows));
    const advantages = rows.map(({ advantage }) => advantage);
    console.log(`Cosine of advantages and moved log-probabilities: ${cosine(moved, advantages).toFixed(3)}`);
    expect(cosine(moved, advantages)).toBeGreaterThan(0.5);
  });

  test("answers that get lost are asked for again, and nothing is carried out twice", async () => {
    const learning = { ...optimiser, learningRate: 0.01, beta1: 0.9, beta2: 0.9 };
    const train = async (baseUrl: string): Promise<unknown> => {
      await using tinker = await connectTo({ ...served, baseUrl }, { contextLength });
      const { rows, samples } = await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 4, 8);
      const metrics = await tinker.trainer.update({ rows, seed: 0 }, loss, learning);
      await tinker.trainer.save(served.directory);
      await tinker.trainer.load(served.directory);
      return { samples, metrics, later: (await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 5, 8)).samples };
    };
    const operations = ["save_weights_for_sampler", "asample", "forward_backward", "optim_step", "save_weights", "retrieve_future"];
    await using proxy = await lossyProxy(served.baseUrl, operations);
    expect(await train(proxy.baseUrl)).toEqual(await train(served.baseUrl));
    expect(proxy.lost.toSorted()).toEqual(operations.toSorted());
  });

  test("a tokenizer with ids that the served model lacks is refused before the first sample", async () => {
    const probe = Int32Array.from({ length: 9 }, (_, i) => i);
    await expect(connectTo(served, { contextLength, vocabularySize: 400, probe: Int32Array.of(...probe, 399) })).rejects.toMatchObject({ code: "policy.tokenizer" });
    const tinker = await connectTo(served, { contextLength, probe });
    await tinker[Symbol.asyncDispose]();
  });

  test("a model that is not served is refused with the name of the one that is", async () => {
    await expect(connectTo(served, { baseModel: "Qwen/Qwen3-4B" })).rejects.toMatchObject({ code: "policy.model", message: expect.stringContaining("serves model") as string });
  });

  test("a wrong base URL is named", async () => {
    await expect(connectTo({ ...served, baseUrl: `${served.baseUrl}/elsewhere` })).rejects.toMatchObject({ code: "policy.lost", message: expect.stringContaining("base URL") as string });
  });
});
