import { episodeReturn, isWin } from "../../src/core/episode.ts";
import type { Arm } from "../../src/core/role.ts";
import { deriveSeed, Rng } from "../../src/core/seed.ts";
import { boxedAction } from "../../src/chat/boxed.ts";
import type { Renderer } from "../../src/chat/renderer.ts";
import { compactPrompts } from "../../src/designer/prompts.ts";
import type { Admission } from "../../src/gates/admit.ts";
import { defaultGates } from "../../src/gates/config.ts";
import { rejectingGate } from "../../src/gates/record.ts";
import type { Policy } from "../../src/policy/policy.ts";
import { playEpisodes } from "../../src/rollout/play.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import type { ProgramKinds } from "../../src/selfplay/dependencies.ts";
import type { DocumentSource } from "./documents.ts";
import { families, sampleGame } from "./families/index.ts";
import { judgedDesigns } from "./judged-designs.ts";

/** What an assessment needs; everything it draws follows from `seed`. */
interface AssessmentContext {
  readonly policy: Policy;
  readonly renderer: Renderer;
  readonly sandbox: Sandbox;
  readonly kinds: ProgramKinds;
  /** Passages that no demonstration used. */
  readonly documents: DocumentSource;
  readonly seed: number;
}

/** One program that the policy wrote. */
export interface AssessedDesign {
  readonly skill: string;
  readonly response: string;
  readonly admitted: boolean;
  /** The gate that rejected it. */
  readonly rejectedBy?: string;
  readonly message?: string;
  /** Nearest demonstration family; absent when the program did not load. */
  readonly family?: string;
  readonly novel?: boolean;
}

const sampling = { temperature: 1, topP: 1, topK: 0 } as const;
const designTokens = 420;
const actionTokens = 100;

/** Lets the policy design on held-out passages and judges the programs by the default gates. */
export async function assessDesigner(count: number, context: AssessmentContext): Promise<AssessedDesign[]> {
  const draws = Array.from({ length: count }, (_, index) => ({
    id: `design-${index}`,
    promptSeed: deriveSeed(context.seed, "design", index),
    sampleSeed: deriveSeed(context.seed, "design sample", index),
  }));
  const designs = await judgedDesigns(draws, { ...context, gates: defaultGates, temperature: sampling.temperature, maxTokens: designTokens });
  return designs.map(({ skill, response, admission }) => assessed(skill, response, admission, context.kinds));
}

function assessed(skill: string, response: string, { record, facts }: Admission, kinds: ProgramKinds): AssessedDesign {
  const rejection = rejectingGate(record);
  const novel = facts === undefined ? undefined : kinds.isNovel(facts.skeleton);
  return {
    skill,
    response,
    admitted: record.verdict === "admitted",
    ...(rejection === undefined ? {} : { rejectedBy: `${rejection.id}: ${rejection.code}`, message: rejection.message }),
    ...(facts === undefined ? {} : { family: kinds.family(facts) }),
    ...(novel === undefined ? {} : { novel }),
  };
}

/** Wins of one family at one level in one arm. */
export interface AssessedPlay {
  readonly family: string;
  readonly level: number;
  readonly arm: Arm;
  readonly greedy: boolean;
  readonly wins: number;
  readonly episodes: number;
}

/** Lets the policy play programs of the demonstration families on held-out passages, with and without hint. */
export async function assessAgent(size: { readonly programs: number; readonly seeds: number }, greedy: boolean, context: AssessmentContext): Promise<AssessedPlay[]> {
  const { policy, renderer, sandbox, documents, seed } = context;
  const cells = families.flatMap(({ name }) => ([1, 2, 3, 4] as const).map((level) => ({ family: name, level })));
  const games = cells.flatMap((cell) =>
    Array.from({ length: size.programs }, (_, index) => {
      const rng = new Rng(deriveSeed(seed, "game", cell.family, cell.level, index));
      const { program, game } = sampleGame(rng, documents(rng), { family: cell.family, difficulty: cell.level });
      return { ...cell, id: `${cell.family}/${cell.level}/${index}`, program, maxTurns: game.maxTurns };
    }),
  );
  const episodes = await playEpisodes({
    environments: games.map(({ id, program, maxTurns }) => ({
      environment: { id, program: { language: "python", source: program.source }, maxTurns, hint: program.hint },
      seeds: Array.from({ length: size.seeds }, (_, index) => index),
    })),
    plays: { plain: 1, hint: 1 },
    sampling: { ...sampling, temperature: greedy ? 0 : 1, maxTokens: actionTokens },
    dialogue: { renderer, prompt: compactPrompts.play, parseAction: boxedAction },
    policy,
    sandbox,
    runSeed: seed,
    iteration: "assessment",
  });
  return cells.flatMap(({ family, level }) =>
    (["plain", "hint"] as const).map((arm): AssessedPlay => {
      const own = episodes.filter((episode) => episode.arm === arm && episode.environmentId.startsWith(`${family}/${level}/`));
      const returns = own.map(({ outcome }) => episodeReturn(outcome)).filter((value) => value !== undefined);
      return { family, level, arm, greedy, wins: returns.filter(isWin).length, episodes: returns.length };
    }),
  );
}
