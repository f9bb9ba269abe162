import type { Rng } from "../../src/core/seed.ts";
import type { Drill } from "./drills.ts";
import { say } from "./families/draft.ts";
import { chain } from "./families/mathematical.ts";
import { randomWords } from "./words.ts";

type Maker = (rng: Rng) => Drill;

const off = (rng: Rng, value: number): string => String(value + rng.pick([-2, -1, 1, 2, 3]));
const people = ["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "June", "Kai", "Lena"];

const gridWalk: Maker = (rng) => {
  const dirs = rng.pick([["north", "south", "east", "west"], ["up", "down", "right", "left"], ["N", "S", "E", "W"]] as const);
  const moves = Array.from({ length: rng.int(2, 4) }, () => [rng.int(0, 3), rng.int(1, 6)] as const);
  const start = rng.chance(0.5) ? [0, 0] : [rng.int(0, 9), rng.int(0, 9)];
  const along = (axis: number): number[] => moves.filter(([d]) => (d < 2 ? 1 : 0) === axis).map(([d, n]) => (d % 2 === 0 ? n : -n));
  const end = start.map((value, axis) => along(axis).reduce((sum, n) => sum + n, value));
  const list = moves.map(([d, n]) => rng.pick([`${n} ${dirs[d] ?? ""}`, `${dirs[d] ?? ""} ${n}`])).join(rng.pick([", ", "; ", " then "]));
  const observation = say(rng, ["A robot on squares is at <s>. Orders: <m>. Which x and y?", "Coordinates <s>. Path: <m>. Final coordinates?", "Start <s>, then <m>. End x y?", "From point <s> a mouse runs <m>. Give its x and y."], { s: start.join(" "), m: list });
  const work = start.map((value, axis) => chain(value, along(axis))).filter((text) => text !== "").join("; ");
  return { skill: "walk", observation, work, answer: end.join(" "), wrong: end.map((value, i) => (i === 0 ? off(rng, value) : value)).join(" "), hint: "Treat x and y apart.", hard: true };
};

const suspects: Maker = (rng) => {
  const list = rng.chance(0.5) ? rng.sample(people, rng.int(3, 6)) : randomWords(rng, rng.int(3, 6));
  const guilty = rng.pick(list);
  const clear = rng.shuffle(list.filter((name) => name !== guilty));
  const facts = rng.chance(0.5) ? clear.map((name) => say(rng, ["<n> was away.", "<n> cannot be it.", "It was never <n>.", "<n> has been cleared."], { n: name })).join(" ") : `Not ${clear.join(", not ")}.`;
  const observation = say(rng, ["Who took the cake: <l>? <f>", "One of <l> did it. <f> Who?", "Options <l>. <f> Only one stays.", "<f> The others out of <l>: who is it?"], { l: list.join(", "), f: facts });
  return { skill: "logic", observation, work: list.map((name) => `${name} ${name === guilty ? "left" : "out"}`).join(", "), answer: guilty, wrong: rng.pick(clear), hint: "Cross out the cleared ones.", hard: list.length > 3 };
};

const timeline: Maker = (rng) => {
  const list = randomWords(rng, rng.int(2, 4));
  const times = list.map(() => rng.int(1, 12));
  const start = rng.int(0, 12);
  const facts = list.map((word, i) => (i === 0 ? `The ${word} takes ${times[i] ?? 0} minutes.` : say(rng, ["After it the <w> takes <t>.", "Then comes the <w>, <t> minutes.", "The <w> lasts <t> more."], { w: word, t: times[i] ?? 0 }))).join(" ");
  const total = times.reduce((sum, t) => sum + t, start);
  return { skill: "arithmetic", observation: say(rng, ["A plan starts at minute <s>. <f> When is all done?", "<f> We begin at <s>. End time?", "Clock shows <s>. <f> What does it show at the end?"], { s: start, f: facts }), work: chain(start, times), answer: String(total), wrong: off(rng, total), hint: "Add each duration.", hard: list.length > 2 };
};

const consequences: Maker = (rng) => {
  const list = randomWords(rng, rng.int(3, 5));
  const rel = rng.pick(["{a} wakes {b}.", "If {a} then {b}.", "{a} triggers {b}.", "When {a} falls, {b} falls.", "{a} makes {b} ring."]);
  const facts = rng.shuffle(list.slice(1).map((word, i) => rel.replaceAll("{a}", list[i] ?? "").replaceAll("{b}", word)));
  const from = rng.int(0, list.length - 2);
  const rest = list.slice(from);
  const observation = say(rng, ["<f> <x> happens. What happens last?", "<f> We see <x>. What is the final effect?", "<f> Begin with <x> and follow on. Where does it end?"], { f: facts.join(" "), x: rest[0] ?? "" });
  return { skill: "cause", observation, work: rest.join(" > "), answer: rest.at(-1) ?? "", wrong: rng.pick(list.slice(0, -1)), hint: "Follow one link after the other.", hard: true };
};

const limited: Maker = (rng) => {
  const list = randomWords(rng, rng.int(3, 5));
  const values = rng.sample(Array.from({ length: 30 }, (_, i) => i + 1), list.length);
  const sorted = [...values].sort((a, b) => a - b);
  const cap = (sorted[rng.int(1, sorted.length - 1)] ?? 0) + rng.int(0, 1);
  let best = -1;
  const work = values.map((value, i) => {
    if (value > cap) return `${value} no`;
    if (best < 0 || value > (values[best] ?? 0)) best = i;
    return `${value} best ${values[best] ?? 0}`;
  });
  const table = list.map((word, i) => rng.pick([`${word} ${values[i] ?? 0}`, `${word} (${values[i] ?? 0})`])).join(", ");
  const observation = say(rng, ["Prices: <t>. Purse: <c>. What is the dearest you can afford?", "Weights: <t>. The boat bears <c>. Heaviest load possible?", "<t>. Take the largest that is at most <c>.", "Up to <c> is fine. Best of <t>?"], { t: table, c: cap });
  return { skill: "optimum", observation, work: `${work.join(", ")}: ${list[best] ?? ""}`, answer: list[best] ?? "", wrong: rng.pick(list), hint: "Drop what is over, keep the best.", hard: true };
};

const packing: Maker = (rng) => {
  const sizes = rng.sample([2, 3, 4, 5, 6, 7, 8, 9], rng.int(3, 4)).sort((a, b) => a - b);
  const room = rng.int(5, sizes.reduce((sum, n) => sum + n, 0));
  let [sum, count] = [0, 0];
  const steps: string[] = [];
  for (const size of sizes) {
    steps.push(`${sum}+${size}=${sum + size}${sum + size > room ? `>${room}` : ""}`);
    if (sum + size > room) break;
    [sum, count] = [sum + size, count + 1];
  }
  return { skill: "optimum", observation: say(rng, ["Boxes of <s> kilos; the lift takes <r>. Most boxes?", "Songs of <s> minutes, <r> minutes left. How many songs at most?", "Coins <s>. Use as many as you can without passing <r>. How many?"], { s: rng.shuffle(sizes).join(", "), r: room }), work: `sorted ${sizes.join(" ")}; ${steps.join(", ")}; count ${count}`, answer: String(count), wrong: off(rng, count), hint: "Smallest first.", hard: true };
};

const swaps: Maker = (rng) => {
  const row = randomWords(rng, rng.int(3, 4));
  const now = [...row];
  const work = [row.join(" ")];
  const moves = Array.from({ length: rng.int(1, 3) }, () => {
    const [i = 0, j = 1] = rng.sample(now.map((_, k) => k), 2);
    const text = `${now[i] ?? ""} and ${now[j] ?? ""}`;
    [now[i], now[j]] = [now[j] ?? "", now[i] ?? ""];
    work.push(now.join(" "));
    return text;
  });
  return { skill: "order", observation: say(rng, ["On a bench: <l>. Places are swapped: <m>. New order?", "Row <l>. Swap <m>. Write the row.", "Cups <l>. Exchange <m>. What is the order now?"], { l: row.join(" "), m: moves.join(", then ") }), work: work.join(" > "), answer: now.join(" "), wrong: rng.shuffle(row).join(" "), hint: "Redo the row after each swap.", hard: true };
};

const tables: Maker = (rng) => {
  const [a, b] = [rng.int(1, 4), rng.int(0, 9)];
  const xs = rng.sample([1, 2, 3, 4, 5], 2).sort((x, y) => x - y);
  const f = (x: number): number => x + b + a;
  const x = rng.int(6, 20);
  return { skill: "rule", observation: say(rng, ["A box makes <p>. What does it make of <x>?", "<p>. And <x>?", "Same rule each time: <p>. Then <x> gives?", "Input to output: <p>. Output for <x>?"], { p: xs.map((n) => `${n} -> ${f(n)}`).join(", "), x }), work: `${f(xs[0] ?? 0)}-${xs[0] ?? 0}=${a + b}, ${x}+${a + b}=${f(x)}`, answer: String(f(x)), wrong: off(rng, f(x)), hint: "Compare output and input.", hard: true };
};

const wheel: Maker = (rng) => {
  const list = rng.chance(0.4) ? rng.sample(["red", "blue", "green", "white", "black", "yellow"], rng.int(2, 4)) : randomWords(rng, rng.int(2, 4));
  const shown = Array.from({ length: list.length + rng.int(1, list.length) }, (_, i) => list[i % list.length] ?? "");
  const next = list[shown.length % list.length] ?? "";
  return { skill: "series", observation: say(rng, ["<x> ... next?", "Beads: <x>. Which bead is next?", "The lamp blinks <x>. Then?", "Repeating: <x>, ?"], { x: shown.join(" ") }), work: `${list.join(" ")}; ${shown.at(-1) ?? ""} > ${next}`, answer: next, wrong: rng.pick(list), hint: "Find what repeats.", hard: list.length > 2 };
};

const tallies: Maker = (rng) => {
  const numbers = Array.from({ length: rng.int(3, 6) }, () => rng.int(1, 20));
  const bar = rng.int(5, 15);
  const kept = numbers.filter((n) => n > bar);
  const sumUp = rng.chance(0.4) && kept.length > 1;
  const [first = 0, ...rest] = kept;
  const answer = sumUp ? rest.reduce((sum, n) => sum + n, first) : kept.length;
  const observation = say(rng, sumUp ? ["Marks <x>. Add those over <k>.", "<x>: sum of everything bigger than <k>?"] : ["Marks <x>. How many are over <k>?", "Count the numbers bigger than <k>: <x>.", "<x>: how many pass <k>?"], { x: numbers.join(", "), k: bar });
  let count = 0;
  const work = sumUp ? chain(first, rest) : numbers.map((n) => `${n} ${n > bar ? `yes ${++count}` : "no"}`).join(", ");
  return { skill: "compare", observation, work, answer: String(answer), wrong: off(rng, answer), hint: "Check each number.", hard: true };
};

const ages: Maker = (rng) => {
  const [a = "", b = "", c = ""] = rng.sample(people, 3);
  const [x, d, e] = [rng.int(5, 30), rng.int(1, 9), rng.int(1, 9)];
  const [s, t] = [rng.chance(0.5), rng.chance(0.5)];
  const y = s ? x + d : x - d;
  const z = t ? y + e : y - e;
  const facts = rng.shuffle([`${a} is ${x}.`, `${b} is ${d} ${s ? "older" : "younger"} than ${a}.`, `${c} is ${e} ${t ? "older" : "younger"} than ${b}.`]);
  return { skill: "arithmetic", observation: `${facts.join(" ")} ${rng.pick([`How old is ${c}?`, `Age of ${c}?`, `${c}'s age?`])}`, work: `${a} ${x}, ${b} ${chain(x, [y - x])}, ${c} ${chain(y, [z - y])}`, answer: String(z), wrong: off(rng, z), hint: "Start with the known age.", hard: true };
};

export const moreDrills: readonly Maker[] = [gridWalk, suspects, timeline, consequences, limited, packing, swaps, tables, wheel, tallies, ages];
