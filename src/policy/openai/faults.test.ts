import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectText } from "./openai.ts";
import { asking, endpointOf, type EndpointChanges, testModel } from "./testing/connect.ts";
import { type EndpointFault, ScriptedEndpoint, type ScriptedEndpointOptions } from "./testing/scripted-endpoint.ts";

let stack: AsyncDisposableStack;
beforeEach(() => {
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

function serve(options: Partial<ScriptedEndpointOptions> = {}): Promise<ScriptedEndpoint> {
  return ScriptedEndpoint.start({ model: testModel, chat: (messages) => `echo ${messages.at(-1)?.content ?? ""}`, ...options }).then((server) => stack.use(server));
}

const cut: EndpointFault = { kind: "alter", alter: (text) => text.slice(0, text.length / 2), cut: true };
const cutCleanly: EndpointFault = { kind: "alter", alter: (text) => text.slice(0, text.indexOf('"finish_reason":"stop"')) };

describe("what passes: each turn's reply is taken once, whatever it took", () => {
  it.each<[string, readonly EndpointFault[], number]>([
    ["429 with Retry-After", [{ kind: "status", status: 429, headers: { "retry-after": "0" } }], 0],
    ["500, 502, 503", [500, 502, 503].map((status) => ({ kind: "status", status })), 3],
    ["an overloaded server (529)", [{ kind: "status", status: 529 }], 1],
    ["a connection that closes", [{ kind: "reset" }], 1],
    ["a stream cut in the middle", [cut, cut], 2],
    ["a stream that ends in the middle", [cutCleanly], 1],
    ["an error inside the stream", [{ kind: "text", text: 'data: {"error":{"message":"engine died"}}\n\n' }], 1],
    ["nonsense", [{ kind: "text", text: "<html>busy</html>" }, { kind: "text", text: "{}" }], 2],
  ])("%s", async (_name, faults, lost) => {
    const server = await serve({ faults });
    const endpoint = endpointOf(server.baseUrl, { maxConcurrent: 1 });
    const policy = await connectText(endpoint, { stream: true });
    const samples = await policy.sample(["a", "b", "c"].map((text) => asking(text)));
    expect(samples.map(({ text }) => text)).toEqual(["echo a", "echo b", "echo c"]);
    expect(server.bodies).toHaveLength(3 + faults.length);
    expect(new Set(server.bodies.slice(0, faults.length + 1).map((body) => JSON.stringify(body))).size).toBe(1);
    expect(endpoint.spending.spent).toMatchObject({ replies: 3, lost });
  });
});

describe("what stays is a named error with its remedy", () => {
  const always = (fault: EndpointFault): Partial<ScriptedEndpointOptions> => ({ faults: Array.from({ length: 9 }, () => fault) });
  const status = (code: number, body?: unknown): Partial<ScriptedEndpointOptions> => always({ kind: "status", status: code, ...(body === undefined ? {} : { body }) });

  it.each<[string, Partial<ScriptedEndpointOptions>, EndpointChanges, { readonly code: string; readonly says: string; readonly asked: number }]>([
    ["a wrong key", { key: "right" }, { key: "sk-wrong" }, { code: "policy.key", says: "TEST_KEY", asked: 0 }],
    ["no key", { key: "right" }, {}, { code: "policy.key", says: "apiKeyEnv", asked: 0 }],
    ["an unknown model", {}, { model: "tests/other" }, { code: "policy.model", says: testModel, asked: 0 }],
    ["a model that is not there any more", status(404, { error: { message: "The model `tests/chat` does not exist." } }), {}, { code: "policy.model", says: "/models lists", asked: 1 }],
    ["a wrong path", { chat: undefined } as unknown as Partial<ScriptedEndpointOptions>, {}, { code: "policy.lost", says: "base URL", asked: 1 }],
    ["no credit", status(402), {}, { code: "policy.billing", says: "credit", asked: 1 }],
    ["a request that is refused", status(400, { error: { message: "Unsupported parameter: max_tokens" } }), {}, { code: "policy.request", says: "max_tokens", asked: 1 }],
    ["500 for ever", status(500), {}, { code: "policy.server", says: "4 attempts", asked: 4 }],
    ["a server that hangs", always({ kind: "hang" }), { timeoutMs: 30 }, { code: "policy.timeout", says: "30 ms", asked: 4 }],
    ["nonsense for ever", always({ kind: "text", text: "<html>a page</html>" }), {}, { code: "policy.protocol", says: "policy.baseUrl", asked: 3 }],
  ])("%s", async (_name, options, changes, { code, says, asked }) => {
    const server = await serve(options);
    const error: unknown = await connectText(endpointOf(server.baseUrl, changes), { stream: true })
      .then((policy) => policy.sample([asking("a")]))
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code });
    expect((error as Error).message).toContain(says);
    expect(inspect(error, { depth: 9 })).not.toContain("sk-wrong");
    expect(server.bodies).toHaveLength(asked);
  });

  it("a server that is not there", async () => {
    const server = await serve();
    const { baseUrl } = server;
    await stack.disposeAsync();
    await expect(connectText(endpointOf(baseUrl), { stream: true })).rejects.toMatchObject({ code: "policy.unreachable", message: expect.stringContaining("base URL") as string });
  });

  it("asks for nothing more once one request has failed", async () => {
    const server = await serve(status(400));
    const policy = await connectText(endpointOf(server.baseUrl, { maxConcurrent: 1 }), { stream: true });
    await expect(policy.sample(Array.from({ length: 9 }, () => asking("a")))).rejects.toMatchObject({ code: "policy.request" });
    expect(server.bodies).toHaveLength(1);
  });
});
