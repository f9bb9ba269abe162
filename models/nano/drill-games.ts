import type { Rng } from "../../src/core/seed.ts";
import type { Move, Player } from "./families/draft.ts";
import { say } from "./families/draft.ts";
import { randomWords } from "./words.ts";

/** A small game of several turns in free wording; `answer` undefined means that the action ended it. */
export interface DrillGame {
  readonly skill: string;
  readonly observation: string;
  readonly hint: string;
  readonly player: Player;
  readonly guess: () => string;
  readonly reply: (action: string) => string | undefined;
  readonly maxTurns: number;
}

type Maker = (rng: Rng) => DrillGame;

/** Guess a number from feedback. */
const bounds: Maker = (rng) => {
  const low = rng.chance(0.6) ? 1 : rng.int(2, 20);
  const high = low + rng.int(6, 30);
  const secret = rng.int(low, high);
  const [up, down] = rng.pick([["higher", "lower"], ["Too small.", "Too big."], ["more", "less"], ["Go up.", "Go down."], ["It is larger.", "It is smaller."], ["low", "high"], ["Not enough.", "Too much."]] as const);
  let [a, b, n] = [low, high, 0];
  const player: Player = (observation) => {
    if (observation === up) a = n + 1;
    if (observation === down) b = n - 1;
    n = Math.floor((a + b) / 2);
    return { work: `${a}-${b}: ${n}.`, action: String(n) };
  };
  const observation = say(rng, ["I think of a number, <a> to <b>. Guess it.", "A number between <a> and <b> is wanted.", "Guess: <a>..<b>. I answer with a clue.", "Which number from <a> to <b> do I mean? You get clues.", "A safe opens at one value in <a>-<b>."], { a: low, b: high });
  return { skill: "feedback", observation, hint: "Guess the middle, then halve.", player, guess: () => String(rng.int(low, high)), reply: (action) => (Number(action) === secret ? undefined : Number(action) < secret ? up : down), maxTurns: 6 };
};

/** Look behind each of several things, none twice. */
const doors: Maker = (rng) => {
  const list = randomWords(rng, rng.int(3, 6));
  const secret = rng.pick(list);
  const verb = rng.pick(["open", "look", "search", "lift", "knock", "ask", ""]);
  const no = say(rng, ["Nothing.", "Empty.", "Not here.", "No luck.", "It is not there.", "Wrong, go on."]);
  const act = (word: string): string => (verb === "" ? word : `${verb} ${word}`);
  let k = -1;
  const player: Player = () => {
    k++;
    return { work: `${k === 0 ? "first" : "next"} ${list[k] ?? ""}.`, action: act(list[k] ?? "") };
  };
  const observation = say(rng, ["A key lies in one of: <l>. <f>", "Search <l> for the coin. <f>", "Somewhere among <l> is a prize. <f>", "Which of <l> hides the ball? <f>"], { l: list.join(", "), f: verb === "" ? "Reply with the name." : `Reply with ${verb} NAME.` });
  return { skill: "search", observation, hint: "Take each once, in order.", player, guess: () => act(rng.pick(list)), reply: (action) => (action === act(secret) ? undefined : no), maxTurns: list.length };
};

/** The natural first try is refused with the form that is wanted; then use that form. */
const refused: Maker = (rng) => {
  const target = rng.pick(randomWords(rng, 3));
  const verb = rng.pick(["take", "use", "choose", "move", "answer", "say", "play", "set", "pick", "name", "ring", "touch"]);
  const told = say(rng, ["Invalid action: use <v> NAME.", "Not understood. Write <v> X.", "Use <v> and a name.", "Please say <v> X.", "That is no move. Moves: <v> THING.", "Unknown. Try <v> NAME."], { v: verb });
  const good = `${verb} ${target}`;
  const player: Player = (observation) => (observation === undefined ? { work: "", action: target } : { work: "", action: good });
  const observation = say(rng, ["The word is <t>.", "You want the <t>.", "Aim for the <t>.", "It is the <t> that counts.", "Your choice shall be the <t>."], { t: target });
  return { skill: "format", observation, hint: "Follow the form you are told.", player, guess: () => rng.pick([target, verb, good]), reply: (action) => (action === good ? undefined : told), maxTurns: 3 };
};

/** Walk to a goal with the position told each turn. */
const approach: Maker = (rng) => {
  const [plus, minus] = rng.pick([["right", "left"], ["up", "down"], ["forward", "back"], ["north", "south"], ["warm", "cool"], ["plus", "minus"]] as const);
  let at = rng.int(0, 15);
  const start = at;
  const goal = at + rng.pick(at < 4 ? [2, 3, 4] : [-4, -3, -2, 2, 3, 4]);
  const report = rng.pick(["Position <n>.", "Now <n>.", "You reach <n>.", "The pointer is on <n>.", "<n>"]);
  const player: Player = (observation) => {
    const now = observation === undefined ? start : Number(/\d+/.exec(observation)?.[0]);
    return { work: `${now}${now < goal ? "<" : ">"}${goal}.`, action: now < goal ? plus : minus };
  };
  const observation = say(rng, ["Pointer on <s>, target <g>. Say <p> or <m>.", "Go from <s> to <g> with <p> (+1) and <m> (-1).", "Bring <s> to <g>: <p> or <m>?", "You are on <s>. The exit is <g>. <p> raises, <m> lowers."], { s: start, g: goal, p: plus, m: minus });
  const reply = (action: string): string | undefined => {
    at += action === plus ? 1 : -1;
    return at === goal ? undefined : report.replace("<n>", String(at));
  };
  return { skill: "approach", observation, hint: "Move towards the target.", player, guess: () => rng.pick([plus, minus]), reply, maxTurns: 6 };
};

/** Ask for hidden values one by one, then add them up. */
const gather: Maker = (rng) => {
  const list = randomWords(rng, rng.int(2, 3));
  const values = new Map(list.map((word) => [word, rng.int(1, 12)]));
  const [ask, final] = rng.pick([["ask", "total"], ["read", "sum"], ["weigh", "report"], ["count", "result"]] as const);
  const seen: number[] = [];
  const player: Player = (observation): Move => {
    if (observation !== undefined) seen.push(Number(/\d+/.exec(observation)?.[0]));
    const next = list[seen.length];
    if (next !== undefined) return { work: `${seen.length === 0 ? "first" : "next"} ${next}.`, action: `${ask} ${next}` };
    let sum = seen[0] ?? 0;
    const work = seen.slice(1).map((x) => `${sum}+${x}=${(sum += x)}`).join(", ");
    return { work: `${work}.`, action: `${final} ${sum}` };
  };
  const observation = say(rng, ["Find the sum of <l>. Use <a> NAME, then <f> N.", "<l> have hidden numbers. <a> NAME shows one; end with <f> N, their sum.", "How much are <l> together? Commands: <a> NAME, <f> N."], { l: list.join(", "), a: ask, f: final });
  const reply = (action: string): string | undefined => {
    const [verb, word = ""] = action.split(" ");
    return verb === final ? undefined : `${rng.pick(["It is", "Shows", "Value", "You read"])} ${values.get(word) ?? 0}.`;
  };
  return { skill: "gather", observation, hint: "Ask for each one first.", player, guess: () => (rng.chance(0.5) ? `${ask} ${rng.pick(list)}` : `${final} ${rng.int(3, 24)}`), reply, maxTurns: list.length + 1 };
};

export const drillGames: readonly Maker[] = [bounds, bounds, doors, refused, approach, gather];
