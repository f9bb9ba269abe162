import { expect, test, vi } from "vitest";
import { writeTinyModel } from "../src/chat/testing/tiny-model.ts";
import { spade } from "./command.ts";

vi.setConfig({ testTimeout: 60_000 });

test("shows where turns end and which chats keep one row", async () => {
  const { code, stdout, stderr } = await spade("chat", writeTinyModel("qwen3"), "--prompts");
  expect(stderr).toBe("");
  expect(code).toBe(0);
  expect(stdout).toMatch(/a turn ends at <\|im_end\|> \(\d+\), <\|endoftext\|> \(\d+\)/);
  expect(stdout).toMatch(/plain +one row/);
  expect(stdout).toMatch(/thinking +a row per turn/);
  expect(stdout).toMatch(/tools +one row/);
  expect(stdout).toContain("<|im_start|>user\nYou see a door.<|im_end|>");
});

test("takes variables and another template; JSON has the digests", async () => {
  const directory = writeTinyModel("qwen3");
  const { code, stdout } = await spade("chat", directory, "--set", '{"enable_thinking": false}', "--json");
  expect(code).toBe(0);
  const printed = JSON.parse(stdout) as { digest: string; tokenizerDigest: string; chats: { name: string; history: string }[] };
  expect(printed.chats.map(({ history }) => history)).toEqual(["rewrites", "rewrites", "rewrites"]);
  expect(printed.digest).toMatch(/^[0-9a-f]{64}$/);
  const other = await spade("chat", directory, "--template", `${writeTinyModel("chatml")}/chat_template.jinja`);
  expect(other.stdout).toMatch(/thinking +one row/);
});

test.each([
  [["chat"], 2, "usage.missing"],
  [["chat", "/nowhere"], 1, "chat.tokenizer"],
  [["chat", "/nowhere", "--set", "yes"], 2, "usage.variables"],
])("refuses %j", async (words, code, kind) => {
  const result = await spade(...words);
  expect(result.code).toBe(code);
  expect(result.stderr).toContain(kind);
});
