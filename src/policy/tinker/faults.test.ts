import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Optimiser } from "../policy.ts";
import { contractLoss, rewardedRows } from "../testing/contract.ts";
import { connect, type ConnectChanges, startServer, testPrompt } from "./testing/connect.ts";
import type { Fault, ScriptedServer, ScriptedServerOptions } from "./testing/scripted-server.ts";
import type { ServedModel } from "./testing/served-model.ts";
import type { Tinker } from "./tinker.ts";

const optimiser: Optimiser = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0, maxGradientNorm: 1, minibatches: 2 };
const request = { prompt: testPrompt(0), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 6 }, seed: 3 };
let stack: AsyncDisposableStack;

beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

async function start(server: Partial<ScriptedServerOptions> = {}, client?: ConnectChanges): Promise<{ server: ScriptedServer; tinker: Tinker }> {
  const started = stack.use(await startServer(server));
  return { server: started, tinker: stack.use(await connect(started.baseUrl, client)) };
}

/** Rows to update on, and what an update on them gives and then samples. */
async function sampled(tinker: Tinker): Promise<{ readonly update: () => Promise<unknown> }> {
  const { rows } = await rewardedRows({ policy: tinker.policy, prompt: testPrompt }, 1, 12);
  return {
    update: async () => {
      const metrics = await tinker.trainer.update({ rows, seed: 1 }, contractLoss, optimiser);
      return { metrics, samples: await tinker.policy.sample([request]) };
    },
  };
}

const updated = async (tinker: Tinker): Promise<unknown> => (await sampled(tinker)).update();

/** What an update gives without faults. */
async function undisturbed(): Promise<unknown> {
  const { tinker } = await start();
  return updated(tinker);
}

/** Carried out in order: numbers 1, 2, 3, … without gap or repetition, whatever happened on the way. */
function expectEachOnce(server: ScriptedServer): void {
  expect(server.carried.map(({ seqId }) => seqId)).toEqual(server.carried.map((_, i) => i + 1));
  expect(server.count("forward")).toBe(1);
  expect(server.count("forward_backward")).toBe(2);
  expect(server.count("optim_step")).toBe(2);
}

/** Requests to forward_backward and polls before those of the first backward pass: the forward pass. */
const backward = { after: 1 };

describe("faults that a run survives: the update is as without them, and nothing is carried out twice", () => {
  it.each<readonly [string, readonly Fault[]]>([
    ["429 with Retry-After on samples", [{ at: "asample", kind: "status", status: 429, headers: { "retry-after-ms": "5" }, times: 6 }]],
    ["425: a checkpoint is still being written", [{ at: "asample", kind: "status", status: 425, times: 3 }]],
    ["410: the future of a sample was lost", [{ at: "retrieve_future", kind: "status", status: 410, after: 5 }]],
    ["connection reset after publishing", [{ at: "save_weights_for_sampler", kind: "reset", when: "after" }]],
    ["the same on SkyRL, which refuses the repetition", [{ at: "save_weights_for_sampler", kind: "reset", when: "after" }, { at: "save_weights_for_sampler", kind: "status", status: 409 }]],
    ["heartbeats that fail", [{ at: "session_heartbeat", kind: "status", status: 500, times: 3 }]],
  ])("while sampling: %s", async (_name, faults) => {
    const expected = await undisturbed();
    const { server, tinker } = await start({ faults }, { timing: { heartbeatMs: 10 } });
    expect(await updated(tinker)).toEqual(expected);
    expectEachOnce(server);
  });

  it.each<readonly [string, Fault & { readonly client?: ConnectChanges }]>([
    ["slow futures (try_again)", { at: "retrieve_future", kind: "text", text: JSON.stringify({ type: "try_again", request_id: "1", queue_state: "paused_capacity" }), times: 5 }],
    ["slow futures (408)", { at: "retrieve_future", kind: "status", status: 408, body: { queue_state: "active" }, times: 5 }],
    ["a poll that is not answered", { at: "retrieve_future", kind: "hang", client: { timing: { pollTimeoutMs: 500 } } }],
    ["429 on an update", { at: "forward_backward", kind: "status", status: 429, headers: { "retry-after": "0" }, times: 3, ...backward }],
    ["429 on polls", { at: "retrieve_future", kind: "status", status: 429, ...backward }],
    ["408 on an optimiser step", { at: "optim_step", kind: "status", status: 408, times: 2 }],
    ["402, paid within the pause", { at: "optim_step", kind: "status", status: 402, times: 2 }],
    ["402 while polling", { at: "retrieve_future", kind: "status", status: 402, times: 2, ...backward }],
    ["503 on an update", { at: "forward_backward", kind: "status", status: 503, times: 2, ...backward }],
    ["500 while polling", { at: "retrieve_future", kind: "status", status: 500, ...backward }],
    ["410 of an update's future", { at: "retrieve_future", kind: "status", status: 410, ...backward }],
    ["connection reset before an update arrives", { at: "forward_backward", kind: "reset", when: "before", ...backward }],
    ["connection reset after an update was carried out", { at: "forward_backward", kind: "reset", when: "after", ...backward }],
    ["connection reset after an optimiser step was carried out", { at: "optim_step", kind: "reset", when: "after" }],
    ["an optimiser step that is not answered in time", { at: "optim_step", kind: "hang", client: { timeoutMs: 500, retries: 20 } }],
    ["nonsense while polling", { at: "retrieve_future", kind: "text", text: "<html>bad gateway", times: 2, ...backward }],
  ])("in an update: %s", async (_name, fault) => {
    const expected = await undisturbed();
    const { server, tinker } = await start({}, fault.client);
    const { update } = await sampled(tinker);
    server.inject(fault);
    expect(await update()).toEqual(expected);
    expectEachOnce(server);
  });
});

describe("faults that stop a run: a named error, no optimiser step, and nothing after it", () => {
  interface Expected {
    readonly code: string;
    readonly says: readonly string[];
    readonly client?: ConnectChanges;
  }
  const json: ConnectChanges = { profile: { encoding: "json" } };

  it.each<readonly [string, Expected, Fault]>([
    ["402 for longer than the pause", { code: "policy.billing", says: ["credit", "--resume"] }, { at: "optim_step", kind: "status", status: 402, times: 1000 }],
    ["429 beyond patience", { code: "policy.rateLimit", says: ["forward_backward", "--resume"] }, { at: "forward_backward", kind: "status", status: 429, headers: { "retry-after": "60" }, ...backward }],
    ["500 that stays", { code: "policy.server", says: ["500", "--resume"] }, { at: "forward_backward", kind: "status", status: 500, times: 1000, ...backward }],
    ["a polled future that only fails", { code: "policy.server", says: ["retrieve_future"], client: { timing: { outageMs: 50 } } }, { at: "retrieve_future", kind: "status", status: 500, times: 1000, ...backward }],
    ["a future without end", { code: "policy.timeout", says: ["operationTimeoutMs"], client: { timing: { operationTimeoutMs: 50 } } }, { at: "retrieve_future", kind: "status", status: 408, times: 1000, ...backward }],
    ["an operation that fails on the server", { code: "policy.operation", says: ["out of memory"] }, { at: "retrieve_future", kind: "text", text: JSON.stringify({ error: "out of memory", category: "server" }), ...backward }],
    ["nonsense instead of a future", { code: "policy.protocol", says: ["not JSON"] }, { at: "forward_backward", kind: "text", text: "<html>", ...backward }],
    ["nonsense for every poll", { code: "policy.protocol", says: ["not JSON"] }, { at: "retrieve_future", kind: "text", text: "<html>", times: 1000, ...backward }],
    ["an answer without request_id", { code: "policy.protocol", says: ["request_id"] }, { at: "forward_backward", kind: "text", text: "{}", ...backward }],
    ["NaN log-probabilities from the forward pass", { code: "policy.nonFinite", says: ["forward pass", "no optimiser step"], client: json }, { at: "retrieve_future", kind: "alter", alter: (text) => text.replaceAll(/"data":\[[^\]]+/g, (found) => found.replaceAll(/-\d[\d.e-]*/g, "NaN")) }],
    ["NaN log-probabilities from the backward pass", { code: "policy.nonFinite", says: ["backward pass", "no optimiser step"], client: json }, { at: "retrieve_future", kind: "alter", alter: (text) => text.replaceAll(/"data":\[[^\]]+/g, (found) => found.replaceAll(/-\d[\d.e-]*/g, "null")), ...backward }],
    ["a metric that is NaN", { code: "policy.nonFinite", says: ["loss:sum"], client: json }, { at: "retrieve_future", kind: "alter", alter: (text) => text.replace(/"loss:sum":[^,}]+/, '"loss:sum":NaN'), ...backward }],
    ["results for fewer rows than were sent", { code: "policy.protocol", says: ["6 datums", "0 results"], client: json }, { at: "retrieve_future", kind: "alter", alter: (text) => text.replace(/"loss_fn_outputs":\[.*\],"metrics"/, '"loss_fn_outputs":[],"metrics"'), ...backward }],
    ["a server that dies in the middle of an update", { code: "policy.unreachable", says: ["ECONNREFUSED", "--resume"] }, { at: "optim_step", kind: "die" }],
    ["a reset after an update, on a server that would run it twice", { code: "policy.unreachable", says: ["--resume"], client: { profile: { deduplicates: false } } }, { at: "forward_backward", kind: "reset", when: "after", ...backward }],
  ])("%s", async (_name, { code, says, client }, fault) => {
    const { server, tinker } = await start({}, client);
    const { update } = await sampled(tinker);
    server.inject(fault);
    const failure: unknown = await update().catch((error: unknown) => error);
    expect(failure).toMatchObject({ code });
    for (const text of says) expect((failure as Error).message.toLowerCase()).toContain(text.toLowerCase());
    const carried = server.carried.length;
    expect(server.count("optim_step")).toBe(0);
    expect(tinker.trainer.policyVersion).toBe(0);
    if (server.requests.includes("optim_step") || server.count("forward_backward") > 0) {
      await expect(update()).rejects.toMatchObject({ code: "policy.interrupted" });
      expect(server.carried.length).toBe(carried);
    }
  });

  it("NaN log-probabilities of a sample", async () => {
    const { server, tinker } = await start();
    server.inject({ at: "retrieve_future", kind: "alter", alter: (text) => text.replace(/"logprobs":\[[^,\]]+/, '"logprobs":[NaN'), after: 1 });
    await expect(tinker.policy.sample([request])).rejects.toMatchObject({ code: "policy.nonFinite" });
  });

  it("a sample without log-probabilities, and one with tokens that the tokenizer lacks", async () => {
    const { server, tinker } = await start();
    server.inject({ at: "retrieve_future", kind: "alter", alter: (text) => text.replace(/"logprobs":\[[^\]]*\]/, '"logprobs":null'), after: 1 });
    await expect(tinker.policy.sample([request])).rejects.toMatchObject({ code: "policy.protocol" });
    server.inject({ at: "retrieve_future", kind: "alter", alter: (text) => text.replace(/"tokens":\[\d+/, '"tokens":[151643') });
    await expect(tinker.policy.sample([request])).rejects.toMatchObject({ code: "policy.tokenizer" });
  });
});

describe("starting", () => {
  it.each<readonly [string, { readonly code: string; readonly server?: Partial<ScriptedServerOptions>; readonly client?: ConnectChanges; readonly says: string }]>([
    ["a model that the server does not serve", { code: "policy.model", client: { options: { baseModel: "other/model" } }, says: "it serves tests/tabular-12" }],
    ["a wrong key", { code: "policy.key", server: { key: "right" }, client: { key: "wrong-key" }, says: "TEST_KEY" }],
    ["no key", { code: "policy.key", server: { key: "right" }, says: "apiKeyEnv" }],
    ["a server that speaks something else", { code: "policy.lost", server: { faults: [{ at: "get_server_capabilities", kind: "status", status: 404 }] }, says: "base URL" }],
    ["a web page", { code: "policy.protocol", server: { faults: [{ at: "get_server_capabilities", kind: "text", text: "<html>" }] }, says: "base URL" }],
    ["a redirect", { code: "policy.request", server: { faults: [{ at: "get_server_capabilities", kind: "status", status: 302, headers: { location: "http://example.invalid/" } }] }, says: "final base URL" }],
    ["a server that refuses the session", { code: "policy.request", server: { faults: [{ at: "create_session", kind: "text", text: '{"error_message":"client too old"}' }] }, says: "client too old" }],
    ["no room for an adapter", { code: "policy.operation", server: { faults: [{ at: "retrieve_future", kind: "text", text: '{"error":"no free adapter","category":"user"}' }] }, says: "no free adapter" }],
  ])("%s", async (_name, { code, server, client, says }) => {
    const started = stack.use(await startServer(server));
    const failure: unknown = await connect(started.baseUrl, client).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code });
    expect((failure as Error).message).toContain(says);
    expect(JSON.stringify(failure) + String((failure as Error).stack)).not.toContain("wrong-key");
  });

  it("no server there", async () => {
    const started = await startServer();
    const { baseUrl } = started;
    await started[Symbol.asyncDispose]();
    await expect(connect(baseUrl)).rejects.toMatchObject({ code: "policy.unreachable", message: expect.stringContaining("host and port") as string });
  });
});

describe("resuming", () => {
  it("goes on after the server died and came back with its disk only", async () => {
    const disk = new Map<string, ServedModel>();
    const directory = mkdtempSync(join(tmpdir(), "spade-tinker-"));
    stack.defer(() => rmSync(directory, { recursive: true }));
    const first = await start({ disk });
    await updated(first.tinker);
    await first.tinker.trainer.save(directory);
    const expected = await updated(first.tinker);
    await first.server[Symbol.asyncDispose]();
    await expect(first.tinker.policy.sample([request])).rejects.toMatchObject({ code: "policy.unreachable" });
    const second = await start({ disk });
    await second.tinker.trainer.load(directory);
    expect(await updated(second.tinker)).toEqual(expected);
    expect(second.server.count("load_weights")).toBe(1);
    expect(second.server.requests.filter((at) => at === "create_model"), "the untouched adapter takes the weights").toHaveLength(1);
  });

  it("a conflict after an unanswered save means saved", async () => {
    const disk = new Map<string, ServedModel>();
    const directory = mkdtempSync(join(tmpdir(), "spade-tinker-"));
    stack.defer(() => rmSync(directory, { recursive: true }));
    const { tinker } = await start({ disk, deduplicates: false, faults: [{ at: "save_weights", kind: "reset", when: "after" }] }, { profile: { deduplicates: false } });
    await tinker.trainer.save(directory);
    expect([...disk.keys()]).toHaveLength(1);
    await tinker.trainer.load(directory);
    expect(tinker.trainer.policyVersion).toBe(0);
  });

  it("weights that the server no longer has", async () => {
    const directory = mkdtempSync(join(tmpdir(), "spade-tinker-"));
    stack.defer(() => rmSync(directory, { recursive: true }));
    const { tinker } = await start();
    await tinker.trainer.save(directory);
    const other = await start({}, { profile: { failsBy400: true } });
    await expect(other.tinker.trainer.load(directory)).rejects.toMatchObject({ code: "policy.operation" });
  });
});
