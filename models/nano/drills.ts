import type { Rng } from "../../src/core/seed.ts";
import { chain } from "./families/mathematical.ts";
import { say } from "./families/draft.ts";
import { nouns, randomWords } from "./words.ts";

/** One small exercise in free wording. `wrong` gives a likely mistake. */
export interface Drill {
  readonly skill: string;
  readonly observation: string;
  readonly work: string;
  readonly answer: string;
  readonly wrong: string;
  readonly hint: string;
  /** Hard to do without working. */
  readonly hard: boolean;
}

type Maker = (rng: Rng) => Drill;

const off = (rng: Rng, value: number): string => String(value + rng.pick([-3, -2, -1, 1, 2, 3, 10]));

const sums: Maker = (rng) => {
  const n = rng.int(2, 4);
  const numbers = Array.from({ length: n }, () => rng.int(1, n === 2 ? 30 : 12));
  const signs = numbers.map((_, i) => (i === 0 || rng.chance(0.6) ? 1 : -1));
  const total = numbers.reduce((sum, x, i) => sum + (signs[i] ?? 1) * x, 0);
  const text = numbers.map((x, i) => (i === 0 ? String(x) : `${signs[i] === 1 ? "+" : "-"} ${x}`)).join(" ");
  const words = numbers.map((x, i) => (i === 0 ? `Start at ${x}` : `${signs[i] === 1 ? rng.pick(["add", "plus", "gain", "receive"]) : rng.pick(["subtract", "minus", "lose", "give away"])} ${x}`)).join(", ");
  const observation = rng.chance(0.5) ? say(rng, ["Compute <t>.", "<t> = ?", "What is <t>?", "Work out <t> and reply with the number.", "Value of <t>"], { t: text }) : say(rng, ["<w>. What do you have?", "<w>. Result?", "<w>. Say the number.", "Task: <w>."], { w: words });
  return { skill: "arithmetic", observation, work: chain(numbers[0] ?? 0, numbers.slice(1).map((x, i) => (signs[i + 1] ?? 1) * x)), answer: String(total), wrong: off(rng, total), hint: "Go from left to right.", hard: n > 2 };
};

const story: Maker = (rng) => {
  const [a, b, c] = [rng.int(3, 20), rng.int(2, 12), rng.int(1, 9)];
  const [item = "", who = "", place = ""] = randomWords(rng, 3);
  const name = rng.pick(["Ada", "Ben", "Cleo", "Dan", "Eva", "Finn", "Gus", "Hana", "Ivo", "June"]);
  const [text, changes] = rng.pick<readonly [string, readonly number[]]>([
    [`${name} has ${a} ${item}. A friend hands over ${b}.`, [b]],
    [`In the ${place} are ${a + b} ${item}; ${name} eats ${b}.`, []],
    [`${name} finds ${a} ${item}, buys ${b} and sells ${c}.`, [b, -c]],
    [`${a} ${item} sit on a ${place}. ${b} more join them, later ${c} go home.`, [b, -c]],
    [`A ${who} carries ${a} ${item} and picks up ${b} and then ${c}.`, [b, c]],
    [`${name}: ${a} points. Round two brings ${b}, round three ${c}.`, [b, c]],
  ]);
  const start = changes.length === 0 ? a + b : a;
  const list = changes.length === 0 ? [-b] : changes;
  const total = list.reduce((sum, x) => sum + x, start);
  return { skill: "arithmetic", observation: `${text} ${rng.pick(["How many at the end?", "What is the count now?", "How many is that?", "Final number?", "How many remain or result?"])}`, work: chain(start, list), answer: String(total), wrong: off(rng, total), hint: "One change after the other.", hard: list.length > 1 };
};

const products: Maker = (rng) => {
  const [a, b] = [rng.int(2, 9), rng.int(2, 9)];
  const c = rng.chance(0.5) ? rng.int(1, 9) : 0;
  const observation = c === 0 ? say(rng, ["<a> times <b>?", "What is <a> * <b>?", "<a> bags with <b> each. Total?", "Multiply <a> by <b>."], { a, b }) : say(rng, ["<a> times <b>, plus <c>?", "Compute <a> * <b> + <c>.", "<a> rows of <b> and <c> more. How many?", "Take <a> groups of <b>, then add <c>."], { a, b, c });
  const product = `${a}*${b}=${a * b}`;
  return { skill: "arithmetic", observation, work: c === 0 ? product : `${product}, ${chain(a * b, [c])}`, answer: String(a * b + c), wrong: off(rng, a * b + c), hint: "Multiply first.", hard: c > 0 };
};

const extremes: Maker = (rng) => {
  const numbers = rng.sample(Array.from({ length: 40 }, (_, i) => i + 1), rng.int(3, 6));
  const most = rng.chance(0.5);
  let top = numbers[0] ?? 0;
  const steps = numbers.map((x) => `${x} best ${(top = most ? Math.max(top, x) : Math.min(top, x))}`);
  const observation = say(rng, most ? ["Which is largest: <x>?", "Pick the highest of <x>.", "Maximum of <x>?", "<x>. Reply with the greatest.", "Numbers: <x>. The biggest one?"] : ["Which is smallest: <x>?", "Pick the lowest of <x>.", "Minimum of <x>?", "<x>. Reply with the least.", "Numbers: <x>. The tiniest one?"], { x: numbers.join(", ") });
  return { skill: "compare", observation, work: steps.join(", "), answer: String(top), wrong: String(rng.pick(numbers)), hint: "Keep the best so far.", hard: numbers.length > 4 };
};

const sorting: Maker = (rng) => {
  const numbers = rng.sample(Array.from({ length: 30 }, (_, i) => i + 1), rng.int(3, 5));
  const down = rng.chance(0.4);
  const sorted = [...numbers].sort((a, b) => (down ? b - a : a - b));
  const observation = say(rng, down ? ["Sort from high to low: <x>.", "Put <x> in falling order.", "Largest first: <x>."] : ["Sort from low to high: <x>.", "Put <x> in rising order.", "Smallest first: <x>.", "Arrange <x>."], { x: numbers.join(" ") });
  const steps = sorted.slice(0, -1).map((value, i) => `${value} then ${sorted.slice(i + 1).length} left`);
  return { skill: "order", observation, work: steps.join(", "), answer: sorted.join(" "), wrong: rng.shuffle(numbers).join(" "), hint: "Take one after the other.", hard: true };
};

const walks: Maker = (rng) => {
  const [plus, minus] = rng.pick([["right", "left"], ["up", "down"], ["forward", "back"], ["east", "west"]] as const);
  const n = rng.int(2, 4);
  const moves = Array.from({ length: n }, (_, i) => (i === 0 || rng.chance(0.55) ? 1 : -1) * rng.int(1, 8));
  const start = rng.chance(0.5) ? 0 : rng.int(1, 9);
  const total = moves.reduce((sum, x) => sum + x, start);
  const list = moves.map((x) => rng.pick([`${Math.abs(x)} ${x > 0 ? plus : minus}`, `${x > 0 ? plus : minus} ${Math.abs(x)}`])).join(", ");
  const observation = say(rng, ["You stand at <s>. Moves: <m>. Position?", "From <s> go <m>. Where are you?", "A snail at <s> crawls <m>. Its mark?", "Position <s>; <m>. New position?"], { s: start, m: list });
  return { skill: "walk", observation: rng.chance(0.4) ? `${observation} (${plus} is plus)` : observation, work: chain(start, moves), answer: String(total), wrong: off(rng, total), hint: `Add ${plus}, subtract ${minus}.`, hard: n > 2 };
};

const words: Maker = (rng) => {
  const list = randomWords(rng, rng.int(3, 6));
  const k = rng.int(1, list.length);
  const nth = ["first", "second", "third", "fourth", "fifth", "sixth"][k - 1] ?? "last";
  const [observation, answer, work] = rng.pick<readonly [string, string, string]>([
    [say(rng, ["Repeat these words: <w>.", "Say again: <w>.", "Copy exactly: <w>"], { w: list.join(" ") }), list.join(" "), ""],
    [say(rng, ["Which word is <n>: <w>?", "Give the <n> word of <w>.", "<w>. The <n> one?"], { n: nth, w: list.join(", ") }), list[k - 1] ?? "", list.slice(0, k).map((word, i) => `${i + 1} ${word}`).join(", ")],
    [say(rng, ["How many words: <w>?", "Count them: <w>.", "<w>. How long is this list?"], { w: list.join(", ") }), String(list.length), list.map((word, i) => `${i + 1} ${word}`).join(", ")],
    [say(rng, ["Reverse the order: <w>.", "Say <w> backwards.", "Last to first: <w>."], { w: list.join(" ") }), [...list].reverse().join(" "), ""],
    [say(rng, ["What comes after <a> in <w>?", "<w>. Name the one following <a>."], { a: list[Math.max(0, k - 2)] ?? "", w: list.join(", ") }), list[Math.max(0, k - 2) + 1] ?? "", `${list[Math.max(0, k - 2)] ?? ""} > ${list[Math.max(0, k - 2) + 1] ?? ""}`],
  ]);
  return { skill: "words", observation, work, answer, wrong: rng.pick(list), hint: "Look at the list.", hard: work !== "" && list.length > 4 };
};

const series: Maker = (rng) => {
  const [a, d] = [rng.int(1, 20), rng.int(1, 8)];
  const terms = Array.from({ length: rng.int(3, 5) }, (_, i) => a + i * d);
  const last = terms.at(-1) ?? 0;
  const observation = say(rng, ["<x>, ...?", "Continue: <x>", "<x> and then?", "Fill in: <x>, _", "A counter reads <x>. Next reading?"], { x: terms.join(", ") });
  return { skill: "series", observation, work: `${a + d}-${a}=${d}, ${last}+${d}=${last + d}`, answer: String(last + d), wrong: off(rng, last + d), hint: "Find the step.", hard: d > 2 };
};

const chains: Maker = (rng) => {
  const list = randomWords(rng, rng.int(3, 4));
  const [rel, ask] = rng.pick([["is taller than", "From tallest to shortest?"], ["beats", "Order from best to worst?"], ["leads to", "Write the path from start to end."], ["is older than", "Oldest to youngest?"], ["outranks", "List from top to bottom."]] as const);
  const facts = rng.shuffle(list.slice(1).map((word, i) => `${list[i] ?? ""} ${rel} ${word}.`));
  return { skill: "order", observation: `${facts.join(" ")} ${ask}`, work: list.join(" > "), answer: list.join(" "), wrong: rng.shuffle(list).join(" "), hint: "Find the start and follow on.", hard: true };
};

const lookup: Maker = (rng) => {
  const keys = randomWords(rng, rng.int(3, 5));
  const values = rng.chance(0.5) ? keys.map(() => String(rng.int(1, 30))) : rng.sample(nouns, keys.length);
  const k = rng.int(0, keys.length - 1);
  const sep = rng.pick([": ", " = ", " is ", " -> "]);
  const observation = say(rng, ["<t>. What belongs to <k>?", "<t>. Value for <k>?", "Given <t>, look up <k>.", "<t>. Then <k> gives?"], { t: keys.map((key, i) => `${key}${sep}${values[i] ?? ""}`).join(", "), k: keys[k] ?? "" });
  return { skill: "lookup", observation, work: `${keys[k] ?? ""} ${values[k] ?? ""}`, answer: values[k] ?? "", wrong: rng.pick(values), hint: "Find the key.", hard: false };
};

const remainder: Maker = (rng) => {
  const k = rng.int(2, 6);
  const n = rng.int(k + 1, 6 * k);
  const q = Math.floor(n / k);
  const rest = rng.chance(0.5);
  const observation = say(rng, rest ? ["<n> modulo <k>?", "Remainder of <n> divided by <k>?", "<n> eggs in boxes of <k>: how many stay outside?"] : ["How often does <k> fit into <n>?", "<n> divided by <k>, whole part?", "<n> eggs in boxes of <k>: how many full boxes?"], { n, k });
  return { skill: "arithmetic", observation, work: `${q}*${k}=${q * k}, ${n}-${q * k}=${n - q * k}${rest ? "" : `, full ${q}`}`, answer: String(rest ? n - q * k : q), wrong: off(rng, rest ? n - q * k : q), hint: "Use the largest multiple.", hard: true };
};

const rules: Maker = (rng) => {
  const [a = "", b = ""] = randomWords(rng, 2);
  const limit = rng.int(4, 20);
  const numbers = Array.from({ length: rng.int(1, 4) }, () => rng.int(1, limit + 8));
  const mark = (x: number): string => (x > limit ? a : b);
  const observation = say(rng, ["If a number is over <k> write <a>, if not <b>: <x>.", "<a> for numbers bigger than <k>, <b> for the others. Numbers: <x>.", "Label <x> with <a> (above <k>) or <b>."], { k: limit, a, b, x: numbers.join(", ") });
  return { skill: "rules", observation, work: numbers.map((x) => `${x}${x > limit ? ">" : "<="}${limit} ${mark(x)}`).join(", "), answer: numbers.map(mark).join(" "), wrong: numbers.map(() => rng.pick([a, b])).join(" "), hint: "One at a time.", hard: numbers.length > 1 };
};

const formats: Maker = (rng) => {
  const [x = "", y = "", z = ""] = randomWords(rng, 3);
  const [p, q] = rng.pick([["open", "close"], ["take", "drop"], ["paint", "wash"], ["lift", "lower"], ["start", "stop"], ["buy", "sell"], ["push", "pull"], ["light", "dim"], ["go", "wait"], ["mark", "clear"], ["east", "west"], ["keep", "throw"]] as const);
  const verb = rng.pick([p, q]);
  const thing = rng.pick([x, y, z]);
  const observation = say(rng, [
    "There are <x>, <y> and <z>. Reply with <p> X or <q> X. The order is to <v> the <t>.",
    "Please <v> the <t>. Commands: <p> NAME, <q> NAME. Names: <x>, <y>, <z>.",
    "You see <x>, <y>, <z>. Allowed: <p> THING or <q> THING. Wish: <v> <t>.",
    "Say <p> or <q> and a name (<x>, <y>, <z>). Somebody wants you to <v> the <t>.",
  ], { x, y, z, p, q, v: verb, t: thing });
  return { skill: "format", observation, work: "", answer: `${verb} ${thing}`, wrong: `${rng.pick([p, q])} ${rng.pick([x, y, z])}`, hint: "Use the form that is given.", hard: false };
};

export const drills: readonly Maker[] = [sums, story, products, extremes, sorting, walks, words, series, chains, lookup, remainder, rules, formats];
