import { expect, test } from "vitest";
import { connect, startServer, vocabularySize } from "./testing/connect.ts";
import type { Fault } from "./testing/scripted-server.ts";
import { TabularModel } from "./testing/served-model.ts";

const probe = Int32Array.of(1, 4, 2, 8, 5, 7, vocabularySize - 1);

/** A model that gives every token of a text the same log-probability, and the last one its own. */
class Opinionated extends TabularModel {
  readonly #given: readonly [number, number];

  constructor(text: number, last: number) {
    super(vocabularySize, "sum");
    this.#given = [text, last];
  }

  override logprobs({ tokens }: { readonly tokens: Int32Array }): Float32Array {
    const [text, last] = this.#given;
    return Float32Array.from(tokens, (_, t) => (t === probe.length - 2 ? last : text));
  }
}

/** Connects with the probe; returns what the user is told. */
async function told(text: number, last = text, ...faults: readonly Fault[]): Promise<{ readonly notices: readonly string[]; readonly requests: readonly string[] }> {
  await using server = await startServer({ newModel: () => new Opinionated(text, last), faults });
  const notices: string[] = [];
  const tinker = await connect(server.baseUrl, { notices, options: { probe } });
  await tinker[Symbol.asyncDispose]();
  return { notices, requests: server.requests };
}

test("a tokenizer in whose ids the served model finds plain English likely is taken without a word, before an adapter is made", async () => {
  const { notices, requests } = await told(-1, -9);
  expect(notices).toEqual([]);
  expect(requests.indexOf("asample")).toBeLessThan(requests.indexOf("create_model"));
});

test.each<readonly [string, number, number, RegExp]>([
  ["text less likely than chance", -3.2, -3.2, /not the served model's: .*\(3\.20 nats .* 2\.48 is chance.*policy\.tokenizer/],
  ["an id that the model lacks", -1, NaN, /does not know all of its ids 0 to 11\. For the last it gives: NaN/],
])("refused: %s", async (_name, text, last, says) => {
  await expect(told(text, last)).rejects.toMatchObject({ code: "policy.tokenizer", message: expect.stringMatching(says) as string });
});

test("what cannot be told is said and not refused", async () => {
  expect((await told(-Math.log(vocabularySize))).notices).toEqual([expect.stringContaining("no likelier than chance")]);
  const silent: Fault = { at: "retrieve_future", kind: "alter", alter: (text) => text.replace("prompt_logprobs", "nothing") };
  expect((await told(-1, -1, silent)).notices).toEqual([expect.stringContaining("gives no log-probabilities of prompts")]);
  const unoffered: Fault = { at: "create_sampling_session", kind: "status", status: 400, body: { detail: "no base model here" } };
  expect((await told(-1, -1, unoffered)).notices).toEqual([expect.stringContaining("no base model here")]);
});

test("a server that fails on the highest id alone, as SkyRL does, lacks it", async () => {
  const fails: Fault = { at: "asample", kind: "status", status: 500, after: 1, times: 100 };
  await expect(told(-1, -1, fails)).rejects.toMatchObject({ code: "policy.tokenizer", message: expect.stringContaining("500") as string });
});

test("a server that cannot be reached is an error as ever", async () => {
  await expect(told(-1, -1, { at: "create_sampling_session", kind: "status", status: 401 })).rejects.toMatchObject({ code: "policy.key" });
});
