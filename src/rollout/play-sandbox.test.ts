import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { actionIn } from "../chat/action.ts";
import { embeddedRenderer } from "../chat/renderer.ts";
import { canonicalJson } from "../core/digest.ts";
import type { Episode } from "../core/episode.ts";
import { compactPrompts } from "../designer/prompts.ts";
import { scriptedPolicy } from "../policy/scripted.ts";
import { byteTokenizer } from "../policy/testing/byte-tokenizer.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { playEpisodes } from "./play.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ lanes: 2, limits: { wallMsPerCall: 2000, fuelPerCall: 20_000 } });
}, 120_000);
afterAll(() => sandbox.close());

const healthy = `
class Steps(TextGame):
    max_turns = 9
    def reset(self, seed=None):
        self.left = self.start(seed).randint(3, 8)
        return self.show(f"{self.left} steps to go")
    def step(self, action):
        self.left -= int(action)
        return self.finish(True) if self.left == 0 else self.tell(f"{self.left} steps to go")
`;

/** T8: harmless for the first calls, then hostile, on odd seeds only. */
const hostile: Readonly<Record<string, readonly [fault: string, codes: readonly string[]]>> = {
  spins: ["while True: pass", ["fuel", "timeout"]],
  grows: ["h = []\n            while True: h.append(bytes(10000000))", ["memory"]],
  prints: ["while True: print('x' * 100000)", ["output", "fuel"]],
  exits: ["import os\n            os._exit(0)", ["exit", "denied"]],
  forks: ["import os\n            os.fork()", ["denied", "raise"]],
};

function withFault(fault: string): string {
  return healthy.replace("def step(self, action):\n", `def step(self, action):\n        if self.turn == 2 and self.seed % 2:\n            ${fault}\n`).replace("self.left =", "self.seed = seed\n        self.left =");
}

function play(sources: Readonly<Record<string, string>>): Promise<Episode[]> {
  return playEpisodes({
    environments: Object.entries(sources).map(([id, source]) => ({ environment: { id, program: { language: "python", source }, maxTurns: 9, hint: "one step" }, seeds: [0, 1, 2, 4] })),
    plays: { plain: 1, hint: 1 },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 40 },
    dialogue: { renderer: embeddedRenderer(byteTokenizer), prompt: compactPrompts.play, parseAction: actionIn },
    policy: scriptedPolicy({ tokenizer: byteTokenizer, respond: () => "\\boxed{1}" }),
    sandbox,
    runSeed: 1,
    iteration: 0,
  });
}

describe("episodes in the real sandbox", () => {
  it.each(Object.entries(hostile))("a program that %s voids its own episodes, by name, and no others (T8)", async (_name, [fault, codes]) => {
    const episodes = await play({ bad: withFault(fault), good: healthy });
    for (const { environmentId, seed, outcome } of episodes) {
      if (environmentId === "good" || seed % 2 === 0) expect(outcome).toEqual({ kind: "terminated", reward: 1 });
      else expect(codes).toContain(outcome.kind === "failed" && outcome.boundary === "environment" ? outcome.code : outcome.kind);
    }
  });

  it("plays the same episodes every time", async () => {
    const reference = await play({ a: healthy, b: healthy });
    expect(reference.every(({ outcome }) => outcome.kind === "terminated")).toBe(true);
    expect(canonicalJson(await play({ a: healthy, b: healthy }))).toBe(canonicalJson(reference));
  });
});
