import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SpadeError } from "../../core/errors.ts";
import { TabularModel } from "../tinker/testing/served-model.ts";
import { policyContract, type PolicySubject } from "../testing/contract.ts";
import type { TextPolicy } from "../policy.ts";
import { sessionHeader } from "../session-header.ts";
import { connectText, connectTokens } from "./openai.ts";
import type { Spending } from "./spending.ts";
import { asking, endpointOf, type EndpointChanges, testModel } from "./testing/connect.ts";
import { type EndpointFault, ScriptedEndpoint, type ScriptedEndpointOptions } from "./testing/scripted-endpoint.ts";

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

interface Opened {
  readonly server: ScriptedEndpoint;
  readonly policy: TextPolicy;
  readonly spending: Spending;
}

/** The model repeats the last message and the seed. */
async function open(options: Partial<ScriptedEndpointOptions> = {}, { stream = true, ...changes }: EndpointChanges & { readonly stream?: boolean } = {}): Promise<Opened> {
  const chat: ScriptedEndpointOptions["chat"] = (messages, { seed }) => `you said “${messages.at(-1)?.content ?? ""}” (${String(seed)})`;
  const server = stack.use(await ScriptedEndpoint.start({ model: testModel, chat, ...options }));
  const endpoint = endpointOf(server.baseUrl, changes);
  return { server, policy: await connectText(endpoint, { stream }), spending: endpoint.spending };
}

const texts = async ({ policy }: Pick<Opened, "policy">, ...said: string[]): Promise<string[]> => (await policy.sample(said.map((text) => asking(text)))).map(({ text }) => text);
const errorOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => undefined, (error: unknown) => error);

describe("chats", () => {
  it.each([true, false])("one reply per request, in order, and the same again (stream: %s)", async (stream) => {
    const opened = await open({}, { stream });
    const said = ["one", "two", "three ✓"];
    const expected = said.map((text) => `you said “${text}” (1)`);
    expect(await texts(opened, ...said)).toEqual(expected);
    expect(await texts(opened, ...said.toReversed())).toEqual(expected.toReversed());
    expect(await opened.policy.sample([])).toEqual([]);
    expect(opened.server.bodies[0]).toMatchObject({ model: testModel, messages: [{ role: "user", content: "one" }], max_tokens: 64, temperature: 1, seed: 1, stream });
    expect(Object.keys(opened.server.bodies[0] ?? {})).not.toContain("top_k");
  });

  it("lays the configured body over each request; null leaves a field out", async () => {
    const { server, policy } = await open({}, { body: { max_tokens: null, max_completion_tokens: 9, chat_template_kwargs: { enable_thinking: false } } });
    await policy.sample([asking("x")]);
    expect(server.bodies[0]).toMatchObject({ max_completion_tokens: 9, chat_template_kwargs: { enable_thinking: false } });
    expect(server.bodies[0]).not.toHaveProperty("max_tokens");
  });

  it("keeps thoughts in a think block and tells what cut a reply off", async () => {
    const { policy } = await open({ chat: ([message]) => (message?.content === "long" ? { content: "cut", finish: "length" } : { content: "\\boxed{4}", reasoning: "2 and 2" }) });
    const samples = await policy.sample([asking("think"), asking("long")]);
    expect(samples).toMatchObject([{ text: "<think>\n2 and 2\n</think>\n\n\\boxed{4}", stop: "stop", tokenCount: 9 }, { text: "cut", stop: "length" }]);
  });

  it("says nothing where the chat is longer than the context", async () => {
    const body = { error: { message: "This model's maximum context length is 2048 tokens. However, your request has 3000 input tokens." } };
    const { policy, spending } = await open({ faults: [{ kind: "status", status: 400, body }] });
    expect(await policy.sample([asking("x")])).toEqual([{ text: "", stop: "context", tokenCount: 0, policyVersion: 0 }]);
    expect(spending.spent).toMatchObject({ replies: 0, tooLong: 1 });
  });

  it("names the conversation in a header, the same at every attempt and in every turn, whatever its name holds", async () => {
    const { server, policy } = await open({ faults: [{ kind: "reset" }] });
    const sessions = ["rollout/jeu_d’été ✓.py/plain/0/0", "rollout/jeu_d’été ✓.py/plain/0/0", "1/a/hint/0/0", undefined];
    for (const session of sessions) await policy.sample([{ ...asking("x"), ...(session === undefined ? {} : { session }) }]);
    const [lost, ...sent] = server.sessions;
    expect(lost).toMatch(/^[0-9a-f]{32}$/);
    expect(sent).toEqual([lost, lost, expect.not.stringMatching(lost ?? "") as string, undefined]);
  });

  it("asks for no more at once than allowed, and for less after 429, as long as Retry-After says", async () => {
    const delays: number[] = [];
    const busy: EndpointFault = { kind: "status", status: 429, headers: { "retry-after-ms": "3" } };
    const { server, policy } = await open({ faults: [busy, undefined, busy] }, { maxConcurrent: 4, delays });
    const samples = await policy.sample(Array.from({ length: 24 }, (_, i) => asking(String(i))));
    expect(samples.map(({ text }) => text)).toEqual(samples.map((_, i) => `you said “${i}” (1)`));
    expect(server.mostAtOnce).toBeLessThanOrEqual(4);
    expect(delays).toEqual([3, 3]);
    expect(server.bodies).toHaveLength(26);
  });
});

describe("spending", () => {
  const prices = { input: 1_000_000, cachedInput: 500_000, output: 2_000_000 };

  it("counts what the server says, by price", async () => {
    const { policy, spending } = await open({ chat: () => "four" }, { prices });
    await policy.sample([asking("abc"), asking("de")]);
    expect(spending.spent).toEqual({ replies: 2, unmeasured: 0, lost: 0, tooLong: 0, inputTokens: 5, cachedInputTokens: 2, outputTokens: 8, cost: 3 + 1 + 16 });
  });

  it("begins nothing beyond the limit, and counts what was under way", async () => {
    const { server, policy, spending } = await open({ chat: () => "four" }, { prices, limit: { cost: 8 }, maxConcurrent: 2 });
    const error = await errorOf(policy.sample(Array.from({ length: 9 }, () => asking("a"))));
    expect(error).toMatchObject({ code: "policy.budget", message: expect.stringContaining("of at most 8") as string });
    expect(server.bodies).toHaveLength(2);
    expect(spending.spent).toMatchObject({ replies: 2, outputTokens: 8 });
    await expect(policy.sample([asking("a")])).rejects.toMatchObject({ code: "policy.budget" });
    expect(server.bodies).toHaveLength(2);
  });

  it.each(["policy.budget", "policy.server"] as const)("when others give up because of %s, finishes what is under way only at a limit of spending", async (code) => {
    const stop = new AbortController();
    const reason = new SpadeError(code, "of another request");
    const { server, policy, spending } = await open({ chat: () => (stop.abort(reason), "four") });
    const outcome = policy.sample([asking("a")], { signal: stop.signal }).then((samples) => samples.length, () => "given up");
    expect(await outcome).toBe(code === "policy.budget" ? 1 : "given up");
    expect(spending.spent.replies).toBe(code === "policy.budget" ? 1 : 0);
    await expect(policy.sample([asking("a")], { signal: stop.signal })).rejects.toBe(reason);
    expect(server.bodies).toHaveLength(1);
  });

  it("limits tokens without prices, and refuses to guess", async () => {
    const { policy } = await open({ chat: () => "four" }, { limit: { tokens: 5 } });
    await policy.sample([asking("a")]);
    await expect(policy.sample([asking("a")])).rejects.toMatchObject({ code: "policy.budget", message: expect.stringContaining("5 tokens of at most 5") as string });
    const silent = await open({ silentOnUsage: true }, { limit: { tokens: 5 } });
    await expect(silent.policy.sample([asking("a")])).rejects.toMatchObject({ code: "policy.usage" });
    const unlimited = await open({ silentOnUsage: true });
    await unlimited.policy.sample([asking("a")]);
    expect(unlimited.spending.spent).toMatchObject({ replies: 1, unmeasured: 1, outputTokens: 0 });
  });
});

const vocabularySize = 12;
const stopToken = 11;

async function openTokens(options: Partial<ScriptedEndpointOptions> = {}, disposeWith?: AsyncDisposableStack): Promise<PolicySubject & { readonly server: ScriptedEndpoint }> {
  const model = new TabularModel(vocabularySize, "sum");
  const server = (disposeWith ?? stack).use(await ScriptedEndpoint.start({ model: testModel, tokens: (call) => model.sample(call), contextLength: 32, ...options }));
  const policy = await connectTokens(endpointOf(server.baseUrl), { stopTokens: [stopToken], vocabularySize });
  return { server, policy, stopToken, prompt: (i) => Int32Array.of(1, 2, 3 + (i % 4)), [Symbol.asyncDispose]: () => (disposeWith ?? stack).disposeAsync() };
}

policyContract("tokens of an endpoint", () => openTokens({}, new AsyncDisposableStack()));

describe("tokens", () => {
  const request = { prompt: Int32Array.of(1, 2, 3), sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 6 }, seed: 1 };
  const altered = (from: RegExp, to: string): Partial<ScriptedEndpointOptions> => ({ faults: [{ kind: "alter", alter: (text) => text.replace(from, to) }] });

  it("are those that were asked for, and the context is the server's", async () => {
    const { server, policy } = await openTokens();
    await policy.sample([{ ...request, session: "1/a/plain/0/0" }]);
    expect(server.sessions).toEqual([sessionHeader({ session: "1/a/plain/0/0" })["x-session-id"]]);
    expect(policy.contextLength).toBe(32);
    expect(server.bodies[0]).toMatchObject({ prompt: [1, 2, 3], return_token_ids: true, stop_token_ids: [stopToken], skip_special_tokens: false });
    await expect(policy.sample([{ ...request, prompt: new Int32Array(32) }])).rejects.toMatchObject({ code: "policy.contextLength" });
  });

  it.each<[string, Partial<ScriptedEndpointOptions>, string]>([
    ["no token ids", altered(/"token_ids":\[[^\]]*\],/, ""), "policy.noTokens"],
    ["NaN log-probabilities", altered(/"token_logprobs":\[[^,\]]+/, '"token_logprobs":[NaN'), "policy.nonFinite"],
    ["no log-probabilities", altered(/"logprobs":\{[^}]*\},/, ""), "policy.protocol"],
    ["a foreign token", altered(/"token_ids":\[\d+/, '"token_ids":[99'), "policy.tokenizer"],
    ["another prompt", altered(/"prompt_token_ids":\[/, '"prompt_token_ids":[7,'), "policy.protocol"],
    ["an end without its token", { tokens: () => ({ tokens: Int32Array.of(3), logprobs: Float32Array.of(-1), stopReason: "stop" }) }, "policy.protocol"],
  ])("are refused: %s", async (_name, options, code) => {
    const { policy } = await openTokens(options);
    await expect(policy.sample([request])).rejects.toMatchObject({ code });
  });

  it("are those of the served model's tokenizer, or nothing is sampled", async () => {
    const { server } = await openTokens({ tokenize: (text) => [...Buffer.from(text)].map((byte) => byte - 96) });
    const connect = (tokens: readonly number[]): Promise<unknown> => connectTokens(endpointOf(server.baseUrl), { stopTokens: [stopToken], vocabularySize, probe: { text: "abc", tokens: Int32Array.from(tokens) } });
    await connect([1, 2, 3]);
    await expect(connect([1, 23])).rejects.toMatchObject({ code: "policy.tokenizer", message: expect.stringContaining("into 3 tokens (1, 2, 3, …), policy.tokenizer into 2 (1, 23, …)") as string });
    expect(server.bodies).toMatchObject([{ prompt: "abc", add_special_tokens: false, max_tokens: 1 }, { prompt: "abc" }]);
  });

  it("need a context length from somewhere", async () => {
    const server = stack.use(await ScriptedEndpoint.start({ model: testModel }));
    await expect(connectTokens(endpointOf(server.baseUrl), { stopTokens: [1], vocabularySize })).rejects.toMatchObject({ code: "policy.contextLength" });
  });
});
