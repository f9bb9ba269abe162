import type { Rng } from "../../src/core/seed.ts";
import type { DrillGame } from "./drill-games.ts";
import type { Player } from "./families/draft.ts";
import { say } from "./families/draft.ts";
import { randomWords } from "./words.ts";

type Maker = (rng: Rng) => DrillGame;

/** A place found from its distance. */
const distance: Maker = (rng) => {
  const low = rng.chance(0.6) ? 1 : 0;
  const high = rng.int(8, 30);
  const secret = rng.int(low + 1, high);
  const told = rng.pick(["It is <n> from there.", "<n> too far off.", "Gap: <n>", "You miss it by <n>.", "<n> steps remain."]);
  const player: Player = (observation) => {
    if (observation === undefined) return { work: `try the end ${low}.`, action: String(low) };
    const gap = Number(/\d+/.exec(observation)?.[0]);
    return { work: `${low}+${gap}=${low + gap}.`, action: String(low + gap) };
  };
  const observation = say(rng, ["A coin is buried at a mark from <l> to <h>. Each dig tells how far it is.", "Dig for the chest, marks <l> to <h>. You learn the gap.", "Which of the seats <l>-<h> is free? A miss tells the distance."], { l: low, h: high });
  return { skill: "feedback", observation, hint: "Begin at an end.", player, guess: () => String(rng.int(low, high)), reply: (action) => (Number(action) === secret ? undefined : told.replace("<n>", String(Math.abs(Number(action) - secret)))), maxTurns: 3 };
};

/** Words come one per turn; at the end all must be said. */
const memory: Maker = (rng) => {
  const list = randomWords(rng, rng.int(2, 4));
  const [go, all] = rng.pick([["next", "all"], ["more", "list"], ["go", "done"], ["ok", "recite"]] as const);
  const observation = say(rng, ["I name <n> words. Say <g> for each further one; then say them all. First: <w>.", "Remember <n> words, one at a time: reply <g> to go on, at the end repeat all. <w>", "Listen: <w>. Reply <g> until all <n> came, then write them in order."], { n: list.length, g: go, w: list[0] ?? "" });
  let k = 0;
  const seen = [list[0] ?? ""];
  const player: Player = (told) => {
    if (told !== undefined) seen.push(told.split(" ")[0] ?? "");
    return seen.length < list.length ? { work: "", action: go } : { work: "", action: seen.join(" ") };
  };
  return { skill: "memory", observation, hint: `Say ${go} until the last word, then repeat.`, player, guess: () => (rng.chance(0.5) ? go : rng.pick([all, ...list])), reply: (action) => (action === go && k < list.length - 1 ? list[++k] : undefined), maxTurns: list.length };
};

/** An item of an ordered list found by asking whether it comes later. */
const halving: Maker = (rng) => {
  const list = randomWords(rng, rng.int(4, 7));
  const secret = rng.int(0, list.length - 1);
  const [before, after] = rng.pick([["before", "after"], ["earlier", "later"], ["left", "right"], ["It is further left.", "It is further right."]] as const);
  let [a, b, k] = [0, list.length - 1, 0];
  const player: Player = (told) => {
    if (told === after) a = k + 1;
    if (told === before) b = k - 1;
    k = Math.floor((a + b) / 2);
    return { work: `${list[a] ?? ""} to ${list[b] ?? ""}, middle ${list[k] ?? ""}.`, action: list[k] ?? "" };
  };
  const observation = say(rng, ["In the row <l> one is chosen. Name one; you hear <x> or <y>.", "My word is one of <l>, in this order. A miss is answered <x> or <y>.", "Guess the item in <l>. Clues: <x> / <y>."], { l: list.join(", "), x: before, y: after });
  return { skill: "feedback", observation, hint: "Name the middle one.", player, guess: () => rng.pick(list), reply: (action) => (action === list[secret] ? undefined : list.indexOf(action) < secret ? after : before), maxTurns: 3 };
};

/** Reach a sum with two step sizes. */
const climbing: Maker = (rng) => {
  const big = rng.int(3, 9);
  const goal = rng.int(big, big * 3);
  let at = 0;
  const told = rng.pick(["At <n>.", "Sum <n>.", "You have <n> now.", "<n> so far."]);
  const player: Player = (observation) => {
    const gap = goal - (observation === undefined ? 0 : Number(/\d+/.exec(observation)?.[0]));
    return { work: `${gap} to go, ${gap}${gap >= big ? ">=" : "<"}${big}.`, action: gap >= big ? String(big) : "1" };
  };
  const observation = say(rng, ["Climb from 0 to <g> with steps of 1 or <b>. Never above.", "Pay exactly <g> with coins 1 and <b>, one per turn.", "Make <g> by adding 1 or <b> each turn."], { g: goal, b: big });
  const reply = (action: string): string | undefined => {
    at += Number(action);
    return at >= goal ? undefined : told.replace("<n>", String(at));
  };
  return { skill: "plan", observation, hint: "Large steps first.", player, guess: () => String(rng.pick([1, big])), reply, maxTurns: 3 + big };
};

/** Try each button until the wanted effect shows, then name it. */
const buttons: Maker = (rng) => {
  const list = randomWords(rng, rng.int(3, 5));
  const effects = rng.sample(["red", "blue", "green", "dark", "loud", "warm", "cold", "wet"], list.length);
  const want = rng.pick(effects);
  const [test, name] = rng.pick([["push", "final"], ["touch", "pick"], ["use", "claim"], ["flip", "report"]] as const);
  const told = rng.pick(["It gets <e>.", "<e>", "The room turns <e>.", "Result: <e>."]);
  let k = -1;
  const player: Player = (observation) => {
    if (observation?.includes(want) === true) return { work: `${want}, yes.`, action: `${name} ${list[k] ?? ""}` };
    k++;
    const work = observation === undefined ? `first ${list[k] ?? ""}.` : `no. next ${list[k] ?? ""}.`;
    return { work, action: `${test} ${list[k] ?? ""}` };
  };
  const observation = say(rng, ["Buttons <l>. Which makes it <w>? Use <t> NAME, then <n> NAME.", "Find what turns things <w>: <l>. <t> X shows the effect, <n> X is your answer.", "One of <l> leads to <w>. Commands: <t> X, <n> X."], { l: list.join(", "), w: want, t: test, n: name });
  const reply = (action: string): string | undefined => {
    const [verb, word = ""] = action.split(" ");
    return verb === name ? undefined : told.replace("<e>", effects[list.indexOf(word)] ?? "");
  };
  return { skill: "cause", observation, hint: "Try each once, then answer.", player, guess: () => `${rng.pick([test, name])} ${rng.pick(list)}`, reply, maxTurns: list.length + 1 };
};

export const moreDrillGames: readonly Maker[] = [distance, memory, halving, climbing, buttons];
