import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { actionIn } from "../chat/action.ts";
import { embeddedRenderer } from "../chat/renderer.ts";
import type { Program } from "../core/environment.ts";
import { compactPrompts } from "../designer/prompts.ts";
import { readGoodBank } from "../gates/good-bank.ts";
import { scriptedPolicy } from "../policy/scripted.ts";
import { byteTokenizer } from "../policy/testing/byte-tokenizer.ts";
import type { ProgramHandle, Sandbox } from "../sandbox/sandbox.ts";
import { createOne, openTestSandbox, valueOf } from "../sandbox/test-sandbox.ts";
import { playEpisodes } from "./play.ts";
import { replayEpisode } from "./replay.ts";

const bank = readGoodBank(join(import.meta.dirname, "..", "..", "environments", "good"));
const seed = 5;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openTestSandbox({ wallMsPerCall: 60_000 });
}, 120_000);
afterAll(() => sandbox.close());

function programOf(file: string): Program {
  const found = bank.find((program) => program.file === file);
  if (found === undefined) throw new Error(`${file} is not in the good bank`);
  return found.program;
}

async function withHandle<T>(program: Program, use: (handle: ProgramHandle) => Promise<T>): Promise<T> {
  const handle = valueOf(await sandbox.open(program));
  try {
    return await use(handle);
  } finally {
    await handle.close();
  }
}

it.each(["library_desk.py", "berth_tools.ts"])("whole replies reach the tool-use program %s, and its parse reports stay with the turns", async (file) => {
  const program = programOf(file);
  const solution = await withHandle(program, async (handle) => {
    expect(handle.facts.actionForm).toBe("tools");
    const { instance } = await createOne(handle, seed);
    return valueOf((await handle.solution([instance]))[0]);
  });
  // A box is no action here, and what is broken or thought is told in the report.
  const replies = ["\\boxed{5}", "<tool_call>{</tool_call>", ...solution.map((action) => `<think><tool_call>{"name": "x"}</tool_call></think>I call: ${action}`)];
  let turn = 0;
  const [episode] = await playEpisodes({
    environments: [{ environment: { id: file, program, maxTurns: 20 }, seeds: [seed] }],
    plays: { plain: 1, hint: 0 },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 400 },
    dialogue: { renderer: embeddedRenderer(byteTokenizer), prompt: compactPrompts.play, parseAction: actionIn },
    policy: scriptedPolicy({ tokenizer: byteTokenizer, respond: () => replies[turn++] ?? "", contextLength: 100_000 }),
    sandbox,
    runSeed: 1,
    iteration: 0,
  });
  if (episode === undefined) throw new Error("no episode");
  const { turns, outcome } = episode;
  expect(outcome).toEqual({ kind: "terminated", reward: 1 });
  expect(turns.map(({ action }) => action)).toEqual(replies);
  expect(turns[1]?.observation).toContain("no tool call");
  expect(turns.map(({ parse }) => parse?.errors.length)).toEqual([0, 1, ...solution.map(() => 0)]);
  expect(turns[1]?.parse?.errors[0]).toMatch(/^a tool call cannot be read: /);
  const replay = await withHandle(program, (handle) => replayEpisode(handle, episode));
  expect(replay).toMatchObject({ steps: replies.length });
  expect(replay.difference).toBeUndefined();
});
