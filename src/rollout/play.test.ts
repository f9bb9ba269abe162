import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { actionIn } from "../chat/action.ts";
import { embeddedRenderer } from "../chat/renderer.ts";
import { canonicalJson } from "../core/digest.ts";
import { type Episode, episodeReturn } from "../core/episode.ts";
import { SpadeError } from "../core/errors.ts";
import { Rng } from "../core/seed.ts";
import { flatten, type TrainableTrajectory } from "../core/trajectory.ts";
import { compactPrompts } from "../designer/prompts.ts";
import type { Policy, Sample, SampleRequest } from "../policy/policy.ts";
import { scriptedPolicy } from "../policy/scripted.ts";
import { byteTokenizer } from "../policy/testing/byte-tokenizer.ts";
import type { Dialogue } from "./episode.ts";
import { type PlayedEnvironment, playEpisodes, type PlayOptions } from "./play.ts";
import { type FakeEnvironment, fakeSandbox } from "./testing/fake-sandbox.ts";

const dialogue: Dialogue = { renderer: embeddedRenderer(byteTokenizer), prompt: compactPrompts.play, parseAction: actionIn };

/** Counts up to a number: wins when the sum of the actions reaches it exactly. */
function counter(): FakeEnvironment {
  let target = 0;
  let sum = 0;
  return {
    reset: (seed) => {
      target = (seed % 3) + 1;
      sum = 0;
      return `reach ${target}`;
    },
    step: (action) => {
      if (action === "raise") return { failure: "raise" };
      sum += Number(action);
      return { observation: `at ${sum}`, reward: sum === target ? 1 : 0, terminated: sum >= target };
    },
  };
}

const environments = {
  counter,
  broken: (): FakeEnvironment => ({ reset: () => ({ failure: "fuel" }), step: () => ({}) }),
  endless: (): FakeEnvironment => ({ reset: (seed) => `seed ${seed}`, step: (action) => ({ observation: `again ${action}`, truncated: action === "stop" }) }),
};

function environment(id: string, source: string, more: { hint?: string; maxTurns?: number; seeds?: number[] } = {}): PlayedEnvironment {
  const { hint, maxTurns = 6, seeds = [0, 1, 2] } = more;
  return { environment: { id, program: { language: "python", source }, maxTurns, ...(hint === undefined ? {} : { hint }) }, seeds };
}

function answering(respond: (last: string, seed: number) => string, contextLength?: number): Policy {
  return scriptedPolicy({ tokenizer: byteTokenizer, respond: ({ last, seed }) => respond(last, seed), ...(contextLength === undefined ? {} : { contextLength }) });
}

const one = answering(() => "I add one: \\boxed{1}");

function play(more: Partial<PlayOptions>): Promise<Episode[]> {
  return playEpisodes({
    environments: [environment("a", "counter", { hint: "add one" })],
    plays: { plain: 2, hint: 2 },
    sampling: { temperature: 1, topP: 1, topK: 0, maxTokens: 64 },
    dialogue,
    policy: one,
    sandbox: fakeSandbox({ environments }),
    runSeed: 1,
    iteration: 0,
    ...more,
  });
}

/** A policy of random bytes and log-probabilities, which also keeps what it returned. */
function randomPolicy(seen: { request: SampleRequest; sample: Sample }[]): Policy {
  return {
    contextLength: 400,
    sample: (requests) =>
      Promise.resolve(
        requests.map((request) => {
          const rng = new Rng(request.seed);
          const text = rng.chance(0.8) ? `\\boxed{${rng.int(0, 2)}}` : "\xff garbage";
          const tokens = Int32Array.from([...byteTokenizer.encode(text), rng.int(100, 260), byteTokenizer.special.end]).slice(0, request.sampling.maxTokens);
          const sample: Sample = {
            tokens,
            logprobs: Float32Array.from(tokens, () => -rng.float()),
            stop: tokens.at(-1) === byteTokenizer.special.end ? "stop" : "length",
            policyVersion: 7,
          };
          seen.push({ request, sample });
          return sample;
        }),
      ),
  };
}

describe("outcomes", () => {
  it("wins by playing to the end, turn by turn", async () => {
    const episodes = await play({});
    expect(episodes.map((episode) => [episode.arm, episode.seed, episode.play, episode.turns.length, episode.outcome])).toEqual(
      ["plain", "hint"].flatMap((arm) => [0, 1, 2].flatMap((seed) => [0, 1].map((index) => [arm, seed, index, seed + 1, { kind: "terminated", reward: 1 }]))),
    );
    expect(episodes[2]?.turns).toEqual([
      { observation: "reach 2", response: "I add one: \\boxed{1}", action: "1", reward: 0 },
      { observation: "at 1", response: "I add one: \\boxed{1}", action: "1", reward: 1 },
    ]);
  });

  const solo = (policy: Policy, source = "endless", more: Partial<PlayOptions> = {}): Promise<Episode> =>
    play({ environments: [environment("a", source, { seeds: [5] })], plays: { plain: 1, hint: 1 }, policy, ...more }).then((episodes) => episodes[0]!);

  it.each<[string, Promise<Episode>, Episode["outcome"]]>([
    ["no box", solo(answering(() => "one")), { kind: "truncated", reason: "action" }],
    ["a box that was cut off", solo(answering(() => "so \\boxed{1" + "0".repeat(100))), { kind: "truncated", reason: "length" }],
    ["an answer cut by the context", solo(answering(() => "long ".repeat(12), 60)), { kind: "truncated", reason: "context" }],
    ["no room for a prompt", solo(answering(() => "\\boxed{1}", 10)), { kind: "truncated", reason: "context" }],
    ["no room for the next observation", solo(answering(() => "\\boxed{1}", 45)), { kind: "truncated", reason: "context" }],
    ["too many turns", solo(one), { kind: "truncated", reason: "turns" }],
    ["truncated by the environment", solo(answering(() => "\\boxed{stop}")), { kind: "truncated", reason: "environment" }],
    ["a guest that raises", solo(answering(() => "\\boxed{raise}"), "counter"), { kind: "failed", boundary: "environment", code: "raise" }],
    ["a guest that does not start", solo(one, "broken"), { kind: "failed", boundary: "environment", code: "fuel" }],
  ])("%s", async (_name, episode, outcome) => {
    const value = await episode;
    expect(value.outcome).toEqual(outcome);
    expect(episodeReturn(value.outcome)).toBe(outcome.kind === "failed" ? undefined : 0);
  });

  it("keeps one episode's failure from the others", async () => {
    const policy = answering((last) => (last.includes("reach 2") ? "\\boxed{raise}" : "\\boxed{1}"));
    const episodes = await play({ policy, plays: { plain: 1, hint: 0 } });
    expect(episodes.map((episode) => episode.outcome.kind)).toEqual(["terminated", "failed", "terminated"]);
  });
});

describe("a sandbox that fails", () => {
  const dyingOnStep = (...dead: number[]): ReturnType<typeof fakeSandbox> => {
    let steps = 0;
    return fakeSandbox({
      environments,
      onCall: (call) => {
        if (call === "step" && dead.includes(steps++)) throw new SpadeError("sandbox.child", "The child died.");
      },
    });
  };

  it("is retried once from seed and actions, with the same result", async () => {
    const sandbox = dyingOnStep(1);
    expect(canonicalJson(await play({ sandbox }))).toBe(canonicalJson(await play({})));
    expect(sandbox.live()).toBe(0);
  });

  it("voids the episodes concerned when it fails again, and only them", async () => {
    // Calls: step of turn 1, step of turn 2 (dies), replay of turn 1 (dies).
    const episodes = await play({ sandbox: dyingOnStep(1, 2), plays: { plain: 1, hint: 0 } });
    expect(episodes.map((episode) => episode.outcome)).toEqual([
      { kind: "terminated", reward: 1 },
      { kind: "failed", boundary: "sandbox", code: "sandbox.child" },
      { kind: "failed", boundary: "sandbox", code: "sandbox.child" },
    ]);
    expect(episodes.slice(1).map((episode) => episodeReturn(episode.outcome))).toEqual([undefined, undefined]);
  });

  it("lets other errors through and closes what it opened", async () => {
    const sandbox = fakeSandbox({ environments });
    const policy: Policy = { contextLength: 100, sample: () => Promise.reject(new SpadeError("policy.down", "down")) };
    await expect(play({ sandbox, policy })).rejects.toThrow("down");
    expect(sandbox.live()).toBe(0);
  });
});

describe("with a bound on the episodes under way", () => {
  const many = Array.from({ length: 7 }, (_, i) => environment(`e${i}`, "counter", { hint: "add one" }));

  it("plays the same episodes, and tells of each when it is over", async () => {
    const [bounded, unbounded, batches]: [Episode[], Episode[], number[]] = [[], [], []];
    const counting: Policy = { ...one, sample: (requests) => (batches.push(requests.length), one.sample(requests)) };
    const episodes = await play({ environments: many, policy: counting, mostUnderWay: 13, onEpisode: (episode) => bounded.push(episode) });
    expect(canonicalJson(episodes)).toBe(canonicalJson(await play({ environments: many, onEpisode: (episode) => unbounded.push(episode) })));
    // An environment has 12 episodes, so a second one begins at once and the third when that is enough.
    expect(Math.max(...batches)).toBeLessThanOrEqual(24);
    expect(bounded.map(({ id }) => id).sort()).toEqual(episodes.map(({ id }) => id).sort());
    expect(bounded.map(({ id }) => id)).not.toEqual(unbounded.map(({ id }) => id));
  });

  it("ends by a failure, though environments have not begun", async () => {
    const sandbox = fakeSandbox({ environments });
    const policy: Policy = { contextLength: 100, sample: () => Promise.reject(new SpadeError("policy.down", "down")) };
    await expect(play({ environments: many, sandbox, policy, mostUnderWay: 1 })).rejects.toThrow("down");
    expect(sandbox.live()).toBe(0);
  });
});

describe("invariants", () => {
  it("1 and 2: the trajectory holds the sampler's tokens and log-probabilities, and the mask marks exactly them", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), async (runSeed) => {
        const seen: { request: SampleRequest; sample: Sample }[] = [];
        const episodes = await play({ policy: randomPolicy(seen), runSeed });
        const sampled = episodes.flatMap((episode) => episode.trajectory.segments.filter((segment) => segment.kind === "sampled"));
        expect(sampled.length).toBe(seen.length);
        for (const episode of episodes) {
          const flat = flatten(episode.trajectory);
          let at = 0;
          for (const segment of episode.trajectory.segments) {
            const end = at + segment.tokens.length;
            expect(flat.mask.slice(at, end).every((bit) => bit === (segment.kind === "sampled" ? 1 : 0))).toBe(true);
            if (segment.kind === "sampled") {
              const source = seen.find(({ sample }) => sample.tokens === segment.tokens);
              expect(source?.sample.logprobs).toBe(segment.logprobs);
              expect(source?.request.prompt).toEqual(flat.tokens.slice(0, at));
            }
            at = end;
          }
        }
      }),
      { numRuns: 15 },
    );
  });

  it("5: both arms see the same seeds and differ only in the hint", async () => {
    const seen: { request: SampleRequest; sample: Sample }[] = [];
    const episodes = await play({ policy: randomPolicy(seen), environments: [environment("a", "counter", { hint: "h", seeds: [4, 9, 2] })] });
    const arm = (name: string): Episode[] => episodes.filter((episode) => episode.arm === name);
    expect(arm("hint").map((e) => [e.seed, e.play])).toEqual(arm("plain").map((e) => [e.seed, e.play]));
    arm("hint").forEach((hinted, i) => {
      const text = (episode: Episode): string => byteTokenizer.decode(episode.trajectory.segments[0]!.tokens);
      expect(text(hinted)).toBe(text(arm("plain")[i]!).replace("agent", "agenthint: h\n"));
    });
    expect(new Set(seen.map(({ request }) => request.seed)).size).toBe(seen.length);
  });

  it("7: a hint-arm trajectory is no trainable trajectory", async () => {
    const [episode] = await play({ plays: { plain: 0, hint: 2 } });
    // @ts-expect-error the arm of an episode's trajectory must be narrowed to "plain" first
    const trainable: TrainableTrajectory = episode!.trajectory;
    expect(trainable.arm).toBe("hint");
  });

  it("equal options give equal episodes, however the sandbox splits them", async () => {
    const options = { environments: [environment("a", "counter", { hint: "x" }), environment("b", "endless")] };
    const reference = canonicalJson(await play({ ...options, policy: randomPolicy([]) }));
    expect(canonicalJson(await play({ ...options, policy: randomPolicy([]) }))).toBe(reference);
    expect(canonicalJson(await play({ ...options, policy: randomPolicy([]), sandbox: fakeSandbox({ environments, maxInstances: 5 }) }))).toBe(reference);
  });
});

it("reports progress up to the end, and refuses two environments with one id", async () => {
  const reports: [number, number][] = [];
  await play({ onProgress: ({ episodesDone, episodes }) => reports.push([episodesDone, episodes]) });
  expect(reports[0]).toEqual([0, 12]);
  expect(reports.at(-1)).toEqual([12, 12]);
  await expect(play({ environments: [environment("a", "counter"), environment("a", "endless")] })).rejects.toMatchObject({ code: "rollout.options" });
});
