import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Loss, Optimiser, TrainingRow, UpdateMetrics } from "../policy.ts";
import { sessionHeader } from "../session-header.ts";
import { contractLoss, rewardedRows } from "../testing/contract.ts";
import { mergeMetrics, splitChunks } from "./chunks.ts";
import { profiles, type ProfileName, profileNames } from "./profile.ts";
import { protobufForwardBackward, readProtobufOutput, readProtobufSequences } from "./protobuf.ts";
import { bytes, integer, message } from "../../engine/protobuf.ts";
import { connect, type ConnectChanges, startServer, stopToken, testPrompt } from "./testing/connect.ts";
import type { ScriptedServer, ScriptedServerOptions } from "./testing/scripted-server.ts";
import { protobufOutput, readForwardBackward } from "./testing/server-protobuf.ts";
import type { Tinker } from "./tinker.ts";
import type { Datum } from "./wire.ts";

const optimiser: Optimiser = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-3, weightDecay: 0, maxGradientNorm: 1, minibatches: 2 };
let stack: AsyncDisposableStack;

beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

async function start(server: Partial<ScriptedServerOptions> = {}, client: ConnectChanges = {}, reduction: "sum" | "datumMean" = "sum"): Promise<{ server: ScriptedServer; tinker: Tinker }> {
  const started = stack.use(await startServer(server, reduction));
  return { server: started, tinker: stack.use(await connect(started.baseUrl, client)) };
}

/** Samples rows, gives them unequal weights and lengths, and updates on them twice; what the weights then are shows in the log-probabilities. */
async function train(tinker: Tinker, server: ScriptedServer, loss: Loss = contractLoss): Promise<{ metrics: UpdateMetrics[]; logprobs: number[] }> {
  const { rows } = await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 1, 12);
  const weighted: TrainingRow[] = rows.map((row, i) => ({ ...row, weight: 1 + (i % 3) }));
  const metrics: UpdateMetrics[] = [];
  for (let i = 0; i < 2; i++) metrics.push(await tinker.trainer.update({ rows: weighted, seed: i }, loss, optimiser));
  const all = Array.from({ length: 12 }, (_, token) => ({ tokens: new Int32Array(12).fill(token), targets: Int32Array.from({ length: 12 }, (_, i) => i), inputs: {} }));
  return { metrics, logprobs: all.flatMap((datum) => [...server.model().logprobs(datum)]) };
}

function expectClose(actual: readonly number[], expected: readonly number[], digits = 5): void {
  expect(actual).toHaveLength(expected.length);
  actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i] ?? NaN, digits));
}

describe("the update is the same, whatever the server", () => {
  it("for a server that means over datums, in chunks or whole, as for one that sums", async () => {
    const summed = await start();
    const expected = await train(summed.tinker, summed.server);
    for (const datums of [1024, 5, 1]) {
      const meant = await start({}, { profile: profiles["skyrl-jax"], options: { chunks: { datums, bytes: 5_000_000 } } }, "datumMean");
      const actual = await train(meant.tinker, meant.server);
      expectClose(actual.logprobs, expected.logprobs);
      expectClose(actual.metrics.flatMap(({ loss, gradientNorm }) => [loss, gradientNorm]), expected.metrics.flatMap(({ loss, gradientNorm }) => [loss, gradientNorm]));
    }
  });

  it("in chunks as whole, each with its own number, on a server that sums", async () => {
    const whole = await start();
    const expected = await train(whole.tinker, whole.server);
    const { server, tinker } = await start({}, { options: { chunks: { datums: 4, bytes: 5_000_000 } } });
    const actual = await train(tinker, server);
    expectClose(actual.logprobs, expected.logprobs);
    const { policyVersion, loss, tokens } = actual.metrics[1] as UpdateMetrics;
    expect({ policyVersion, tokens }).toEqual({ policyVersion: 2, tokens: expected.metrics[1]?.tokens });
    expect(loss).toBeCloseTo(expected.metrics[1]?.loss ?? NaN, 6);
    expect(server.carried.map(({ seqId }) => seqId)).toEqual(server.carried.map((_, i) => i + 1));
    expect(server.count("forward_backward")).toBe(8);
    expect(server.count("optim_step")).toBe(4);
  });

  it("in JSON as in protobuf; the encoding that the server refuses is dropped without using a number up", async () => {
    const results = [];
    for (const [encodings, first] of [[["protobuf"], "protobuf"], [["json"], "json"], [["json"], "protobuf"], [["protobuf"], "json"]] as const) {
      const { server, tinker } = await start({ encodings }, { profile: { encoding: first } });
      results.push((await train(tinker, server)).logprobs);
      expect(new Set(server.carried.flatMap(({ encoding }) => encoding ?? []))).toEqual(new Set(encodings));
      expect(server.carried.map(({ seqId }) => seqId)).toEqual(server.carried.map((_, i) => i + 1));
    }
    for (const logprobs of results) expectClose(logprobs, results[0] ?? []);
  });

  it("names a server that takes neither encoding", async () => {
    const { server, tinker } = await start({ encodings: [] });
    await expect(train(tinker, server)).rejects.toMatchObject({ code: "policy.encoding" });
  });

  it("imitates with cross-entropy where the server sums, and says so where it does not", async () => {
    const { server, tinker } = await start();
    const { metrics } = await train(tinker, server, { kind: "crossEntropy" });
    expect(metrics[1]?.loss).toBeLessThan(metrics[0]?.loss ?? 0);
    const other = await start({}, { profile: profiles["skyrl-jax"] });
    await expect(train(other.tinker, other.server, { kind: "crossEntropy" })).rejects.toMatchObject({ code: "policy.unsupported" });
  });

  it("refuses terms that servers lack, and temperatures that they do not train", async () => {
    const { server, tinker } = await start();
    for (const term of [{ klCoefficient: 0.1 }, { entropyCoefficient: 0.1 }]) await expect(train(tinker, server, { ...contractLoss, ...term })).rejects.toMatchObject({ code: "policy.unsupported" });
    const { rows } = await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 1, 4);
    const warm = rows.map((row) => ({ ...row, temperature: 0.7 }));
    await expect(tinker.trainer.update({ rows: warm, seed: 1 }, contractLoss, optimiser)).rejects.toMatchObject({ code: "policy.samplingMismatch" });
  });
});

describe("requests", () => {
  it("say everything in which servers differ: clip bounds, stop tokens, limits, temperature, seed", async () => {
    const { server, tinker } = await start({}, { profile: { encoding: "json" } });
    await train(tinker, server);
    const body = (at: string): unknown => server.bodies.findLast((each) => each.at === at)?.body;
    expect(body("asample")).toMatchObject({ num_samples: 1, sampling_params: { max_tokens: 6, seed: expect.any(Number) as number, stop: [stopToken], temperature: 1, top_k: -1, top_p: 1 } });
    expect(body("forward_backward")).toMatchObject({ forward_backward_input: { loss_fn: "ppo", loss_fn_config: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 } } });
    expect(body("optim_step")).toMatchObject({ adam_params: { learning_rate: 0.1, beta1: 0.9, beta2: 0.99, eps: 1e-3, weight_decay: 0, grad_clip_norm: 1 } });
    expect(body("create_model")).toMatchObject({ model_seq_id: 0, lora_config: { rank: 4, seed: 1, train_attn: true } });
  });

  it("give no loss and no log-probability to what was not sampled", async () => {
    const { server, tinker } = await start({}, { profile: { encoding: "json" } });
    await train(tinker, server);
    const { forward_backward_input: input } = server.bodies.find((each) => each.at === "forward_backward")?.body as { forward_backward_input: { data: { loss_fn_inputs: Record<string, { data: number[] }> }[] } };
    for (const { loss_fn_inputs: inputs } of input.data) {
      expect(Object.keys(inputs).sort()).toEqual(["advantages", "logprobs", "target_tokens"]);
      expect(inputs["advantages"]?.data.slice(0, 2)).toEqual([0, 0]);
      expect(inputs["logprobs"]?.data.slice(0, 2)).toEqual([0, 0]);
    }
  });

  it("are bounded in number, and fall when the server pushes back", async () => {
    const { server, tinker } = await start({}, { options: { maxConcurrentSamples: 4 } });
    await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 1, 40);
    expect(server.mostSampling).toBeLessThanOrEqual(4);
  });

  it("name their sequences when the server asks for it", async () => {
    const { server, tinker } = await start();
    server.inject({ at: "asample", kind: "status", status: 422, body: { detail: [{ loc: ["body", "sample_sequence_ids"], msg: "Field required" }] } });
    const samples = await tinker.policy.sample([{ prompt: testPrompt(0), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 3 }, seed: 1 }]);
    expect(samples).toHaveLength(1);
    expect(server.bodies.findLast((each) => each.at === "asample")?.body["sample_sequence_ids"]).toHaveLength(1);
  });

  it("do not sample while an update runs where sampling overwrites the weights in training", async () => {
    const { server, tinker } = await start({}, { profile: { samplingOverwritesTraining: true } });
    const { rows } = await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 1, 12);
    server.requests.length = 0;
    const sampling = tinker.policy.sample([{ prompt: testPrompt(0), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 3 }, seed: 1 }]);
    const update = tinker.trainer.update({ rows, seed: 1 }, contractLoss, optimiser);
    const after = tinker.policy.sample([{ prompt: testPrompt(0), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 3 }, seed: 1 }]);
    expect([(await sampling)[0]?.policyVersion, (await update).policyVersion, (await after)[0]?.policyVersion]).toEqual([0, 1, 1]);
    const order = server.requests.filter((at) => at !== "retrieve_future");
    expect(order[0]).toBe("asample");
    expect(order.slice(-2)).toEqual(["save_weights_for_sampler", "asample"]);
  });

  it("go on from the version before while an update runs, where that is wanted, and say so", async () => {
    const { server, tinker } = await start({}, { options: { sampleDuringUpdates: true } });
    const { rows } = await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 1, 12);
    const [request] = [{ prompt: testPrompt(0), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 3 }, seed: 1 }];
    const [before] = await tinker.policy.sample([request]);
    server.requests.length = 0;
    const update = tinker.trainer.update({ rows, seed: 1 }, contractLoss, optimiser);
    const [during] = await tinker.policy.sample([request]);
    expect(during).toEqual(before);
    expect((await update).policyVersion).toBe(1);
    expect((await tinker.policy.sample([request]))[0]?.policyVersion).toBe(1);
    const order = server.requests.filter((at) => at !== "retrieve_future");
    expect(order.indexOf("asample")).toBeLessThan(order.indexOf("optim_step"));
    expect(order.slice(-2)).toEqual(["save_weights_for_sampler", "asample"]);
    await expect(start({}, { profile: { samplingOverwritesTraining: true }, options: { sampleDuringUpdates: true } })).rejects.toMatchObject({ code: "policy.unsupported" });
  });

  it("name the conversation they go on with, so that a router can keep it with one replica", async () => {
    const { server, tinker } = await start();
    const request = { prompt: testPrompt(0), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 3 }, seed: 1 };
    const named = ["1/a/plain/0/0", "1/a/plain/0/1"].map((session) => ({ ...request, session }));
    await tinker.policy.sample([...named, request]);
    expect(server.sessions.sort()).toEqual(named.map((each) => sessionHeader(each)["x-session-id"]).sort());
  });

  it("are given up when their signal aborts", async () => {
    const { server, tinker } = await start();
    server.inject({ at: "asample", kind: "hang" });
    const stop = new AbortController();
    const sample = tinker.policy.sample([{ prompt: testPrompt(0), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 3 }, seed: 1 }], { signal: stop.signal });
    stop.abort();
    await expect(sample).rejects.toThrow();
  });
});

describe("protobuf", () => {
  const datum = fc.integer({ min: 1, max: 9 }).chain((length) =>
    fc.record<Datum>({
      tokens: fc.array(fc.nat(200_000), { minLength: length, maxLength: length }).map((list) => Int32Array.from(list)),
      targets: fc.array(fc.nat(200_000), { minLength: length, maxLength: length }).map((list) => Int32Array.from(list)),
      inputs: fc.dictionary(fc.constantFrom("weights", "logprobs", "advantages"), fc.array(fc.float({ noNaN: true }), { minLength: length, maxLength: length }).map((list) => Float32Array.from(list)), { noNullPrototype: true }),
    }),
  );

  it("carries a request whole", () => {
    fc.assert(
      fc.property(fc.array(datum, { maxLength: 4 }), fc.integer({ min: 1, max: 2 ** 31 - 1 }), fc.boolean(), (datums, seqId, forwardOnly) => {
        const call = { modelId: "run-ä", seqId, datums, loss: { name: "ppo", config: { clip_low_threshold: 0.8 } }, forwardOnly } as const;
        expect(readForwardBackward(protobufForwardBackward(call).bytes)).toEqual(call);
      }),
    );
  });

  it("is laid out as the schema says", () => {
    const { bytes: body } = protobufForwardBackward({ modelId: "m", seqId: 3, datums: [{ tokens: Int32Array.of(258), targets: Int32Array.of(7), inputs: {} }], loss: { name: "ppo" }, forwardOnly: true });
    expect(Buffer.from(body).toString("hex")).toBe(
      ["0a016d", "1003", "1a2c", "0a08", "0a06", "0a04", "02010000", "1220", "0a0d" + Buffer.from("target_tokens").toString("hex"), "120f", "0a08" + "0700000000000000", "1802", "220101", "2203" + Buffer.from("ppo").toString("hex"), "3001"].join(""),
    );
  });

  it("reads results and samples, and names bytes that are none", () => {
    const logprobs = [Float32Array.of(-1, -2), new Float32Array(0), Float32Array.of(NaN)];
    expect(readProtobufOutput(protobufOutput(logprobs, { "loss:sum": 1.5 }))).toEqual({ logprobs, metrics: { "loss:sum": 1.5 } });
    const sequence = message(integer(1, 1), bytes(2, new Uint8Array(Int32Array.of(5, 11).buffer)), bytes(3, new Uint8Array(Float32Array.of(-1, -2).buffer)));
    expect(readProtobufSequences(bytes(1, sequence))).toEqual([{ stopReason: "length", tokens: Int32Array.of(5, 11), logprobs: Float32Array.of(-1, -2) }]);
    for (const nonsense of [Uint8Array.of(255), Uint8Array.of(10, 9, 1), Uint8Array.of(11)]) expect(() => readProtobufOutput(nonsense)).toThrow(/protobuf message cannot be read/);
  });
});

describe("chunks", () => {
  it("keep order, lose nothing and stay within the limits", () => {
    const datums = fc.array(fc.integer({ min: 1, max: 40 }).map((length): Datum => ({ tokens: new Int32Array(length), targets: new Int32Array(length), inputs: { weights: new Float32Array(length) } })));
    fc.assert(
      fc.property(datums, fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 4000 }), (all, most, size) => {
        const chunks = splitChunks(all, { datums: most, bytes: size });
        expect(chunks.flat()).toEqual(all);
        for (const chunk of chunks) {
          expect(chunk.length).toBeLessThanOrEqual(most);
          if (chunk.length > 1) expect(chunk.reduce((sum, { tokens }) => sum + tokens.length * 30, 0)).toBeLessThanOrEqual(size);
        }
      }),
    );
  });

  it("merge their metrics as each key says", () => {
    const parts = [
      { metrics: { "a:sum": 1, "b:mean": 1, "c:min": 3, "d:max": 3, "e:slack": 1, "f:unique": 7, "g:odd": 1, plain: 1, "h:sum": 1 }, datums: 1 },
      { metrics: { "a:sum": 2, "b:mean": 5, "c:min": 2, "d:max": 4, "e:slack": 5, "f:unique": 8, "g:odd": 1, plain: 1 }, datums: 3 },
    ];
    expect(mergeMetrics(parts)).toEqual({ "a:sum": 3, "b:mean": 4, "c:min": 2, "d:max": 4, "e:slack": 1, "f:unique": 7, "f:unique_1": 8 });
    expect(mergeMetrics(parts.slice(0, 1))).toEqual(parts[0]?.metrics);
  });
});

it("the configuration knows the same profiles", async () => {
  const { configSchema } = await import("../../config/schema.ts");
  const policy = (profile: string): object => ({ policy: { kind: "tinker", baseUrl: "http://127.0.0.1:1", model: "m", tokenizer: "t", profile } });
  expect(profileNames.every((name) => configSchema.safeParse(policy(name)).success)).toBe(true);
  expect(Object.keys(profiles).sort()).toEqual([...profileNames].sort() satisfies ProfileName[]);
});
