import { describe, expect, it } from "vitest";
import { Nonsense, readChat } from "./wire.ts";

const event = (choice: object, more: object = {}): string => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }], ...more })}\n\n`;
const said = (content: string): string => event({ delta: { content } });
const end = (finish = "stop"): string => event({ delta: {}, finish_reason: finish });
const usage = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\n';
const done = "data: [DONE]\n\n";

describe("a streamed reply", () => {
  it.each<[string, string, object]>([
    ["in pieces, with usage at the end", said("a") + said("b") + end() + usage + done, { text: "ab", stop: "stop", usage: { inputTokens: 3, cachedInputTokens: 0, outputTokens: 2 } }],
    ["without [DONE]", said("a") + end(), { text: "a", stop: "stop" }],
    ["without a finish reason", said("a") + done, { text: "a", stop: "stop" }],
    ["with keep-alive comments", `: OPENROUTER PROCESSING\n\n${said("a")}: ping\n\n${end()}${done}`, { text: "a", stop: "stop" }],
    ["cut off by its length", said("a") + end("length") + done, { text: "a", stop: "length" }],
    ["with null contents and another choice", event({ delta: { role: "assistant", content: null } }) + `data: {"choices":[{"index":1,"delta":{"content":"other"}}]}\n\n` + said("a") + end(), { text: "a", stop: "stop" }],
    ["with thoughts apart", event({ delta: { reasoning_content: "so" } }) + event({ delta: { reasoning: " what" } }) + said("a") + end(), { text: "<think>\nso what\n</think>\n\na", stop: "stop" }],
    ["as one object all the same", '{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}]}', { text: "a", stop: "stop" }],
    ["in parts of contents", '{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]}', { text: "ab", stop: "stop" }],
    ["with nothing to say", end() + done, { text: "", stop: "stop" }],
  ])("%s", (_name, answer, reply) => {
    expect(readChat(answer)).toEqual(reply);
  });

  it("puts calls of tools that the server took out back in, in whatever pieces they came", () => {
    const call = (index: number, name: string | undefined, given: string): string => event({ delta: { tool_calls: [{ index, function: { ...(name === undefined ? {} : { name }), arguments: given } }] } });
    const answer = said("I look.") + call(0, "set_cfg", '{"opts":{"re') + call(1, "list", "") + call(0, undefined, 'try":{"max":3}}}') + end("tool_calls") + done;
    expect(readChat(answer).text).toBe('I look.\n<tool_call>\n{"name": "set_cfg", "arguments": {"opts":{"retry":{"max":3}}}}\n</tool_call>\n<tool_call>\n{"name": "list", "arguments": {}}\n</tool_call>');
  });

  it.each<[string, string, string]>([
    ["ends in the middle", said("a"), "policy.protocol"],
    ["ends in the middle of an event", `${said("a")}data: {"choices":[{"del`, "policy.protocol"],
    ["holds no event", "<html>a page</html>", "policy.protocol"],
    ["is empty", "", "policy.protocol"],
    ["has no choice", '{"id":"x"}', "policy.protocol"],
    ["is of another form", '{"choices":"none"}', "policy.protocol"],
    ["is not JSON", '{"choices":', "policy.protocol"],
    ["holds an error", `${said("a")}data: {"error":{"message":"out of memory","code":500}}\n\n${done}`, "policy.server"],
    ["was broken off", said("a") + end("abort") + done, "policy.server"],
  ])("makes no sense when it %s", (_name, answer, code) => {
    let thrown: unknown;
    try {
      readChat(answer);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(Nonsense);
    expect(thrown).toMatchObject({ code });
  });
});
