import type { Rng } from "../../src/core/seed.ts";
import type { DemonstrationTurn } from "./demonstrations.ts";
import type { DrillGame } from "./drill-games.ts";
import type { Reader, SingleDraft } from "./families/draft.ts";
import { reader } from "./families/draft.ts";
import type { GeneratedGame } from "./families/index.ts";
import { withoutCount } from "./families/vary.ts";

/** careful: with working, right. slip: with working and one mistake. hasty: no working; right only where that is easy. */
export type Style = "careful" | "slip" | "hasty";

const slipShare = 0.3;
/** Share of right answers without working, by difficulty. */
const hastyRight = [0.6, 0.35, 0.2, 0.1] as const;

const boxed = (action: string): string => `\\boxed{${action}}`;

const spoken = (work: string, action: string): string => (work === "" ? boxed(action) : `${work.endsWith(".") ? work : `${work}.`} ${boxed(action)}`);

/** One answer in a style. `easy` is the chance of being right without working. */
export function respond(rng: Rng, { work, answer, wrong, style, easy }: { readonly work: string; readonly answer: string; readonly wrong: string; readonly style: Style; readonly easy: number }): string {
  if (style === "hasty") return boxed(rng.chance(easy) ? answer : wrong);
  if (style === "careful" || work === "") return spoken(work, answer);
  return spoken(work.endsWith(`=${answer}`) ? work.slice(0, -answer.length) + wrong : work, wrong);
}

/** Plays a generated program; a program's observations come from its own source. */
export function playGame(rng: Rng, { program, draft, game }: GeneratedGame, style: Style): { observation: string; turns: DemonstrationTurn[] } {
  const observation = game.reset(rng.int(0, 1_000_000));
  const state = reader(game.state);
  if (draft.kind === "single") {
    const answer = game.solution()[0] ?? "";
    const options = { work: draft.work(state), answer, wrong: wrongAnswer(rng, draft, state, answer), style, easy: hastyRight[program.difficulty - 1] ?? 0.1 };
    return { observation, turns: [{ target: respond(rng, options) }] };
  }
  const turns = playTurns(
    rng,
    {
      player: draft.player(state),
      guess: () => draft.guess(state, rng),
      reply: (action) => {
        const step = game.step(action);
        return step.ended ? undefined : step.observation;
      },
      maxTurns: game.maxTurns,
    },
    style,
  );
  return { observation, turns };
}

/** Turns of a game against `reply`: systematic, with a slip into guessing, or guessed throughout. */
export function playTurns(rng: Rng, game: Pick<DrillGame, "player" | "guess" | "reply" | "maxTurns">, style: Style): DemonstrationTurn[] {
  const turns: DemonstrationTurn[] = [];
  let context: string | undefined;
  let slipped = false;
  for (let turn = 0; turn < game.maxTurns; turn++) {
    slipped ||= style === "hasty" || (style === "slip" && rng.chance(slipShare));
    const move = slipped ? { work: "", action: game.guess() } : game.player(context === undefined ? undefined : withoutCount(context));
    turns.push({ ...(context === undefined ? {} : { context }), target: spoken(move.work, move.action) });
    context = game.reply(move.action);
    if (context === undefined) break;
  }
  return turns;
}

/** A likely mistake: a number nearby, another word, a list in disorder. */
function wrongAnswer(rng: Rng, draft: SingleDraft, state: Reader, answer: string): string {
  const near = (value: string): string => String(Number(value) + rng.pick([-3, -2, -1, 1, 2, 3]));
  if (draft.answer === "number") return near(answer);
  const words = draft.options?.(state) ?? [];
  if (draft.answer === "word") return rng.pick(words.filter((word) => word !== answer));
  const parts = answer.split(" ");
  const at = rng.int(0, parts.length - 1);
  if (words.length === 0 || /^-?\d+$/.test(answer.replaceAll(" ", ""))) return parts.map((part, i) => (i === at ? near(part) : part)).join(" ");
  return rng.chance(0.5) && new Set(parts).size > 1 ? rng.shuffle(parts).join(" ") : parts.map((part, i) => (i === at ? rng.pick(words.filter((word) => word !== part)) : part)).join(" ");
}
