import type { Context, Family, SingleDraft } from "./draft.ts";
import { constant, drawNumbers, names, say } from "./draft.ts";
import { twisted } from "./twist.ts";

const totals = ["How many <U> now?", "How many <U> are in the <P>?", "What is the amount at the end?", "Find the final number of <U>.", "Give the number of <U> left in the <P>.", "How much does the <P> hold now?", "Work out the <U>."];
const asNumber = ["", "", "", "Reply with a number.", "Answer with the number only.", "Give one number."];

/** `v1+v2=…` for a chain of signed numbers. */
export function chain(start: number, changes: readonly number[]): string {
  let sum = start;
  return changes.map((change) => `${sum}${change < 0 ? "-" : "+"}${Math.abs(change)}=${(sum += change)}`).join(", ");
}

function question(context: Context, wordings: readonly string[], slots: Readonly<Record<string, string | number>>): string[] {
  return [say(context.rng, wordings, slots), say(context.rng, asNumber)].filter((text) => text !== "");
}

function maybeTwist(context: Context, draft: SingleDraft, subject: string): SingleDraft {
  return context.rng.chance(context.level === 1 ? 0.1 : 0.3) ? twisted(context, draft, subject) : draft;
}

function ledger(context: Context): SingleDraft {
  const { rng, ground, level, v } = context;
  const [P = "", Q = "", R = ""] = ground.words(3);
  const U = ground.unit(ground.word());
  const count = rng.int(Math.max(1, level - 1), level === 1 ? 2 : level);
  const ids = names(rng, count + 1);
  const [start = "a", ...rest] = ids;
  const signs = rest.map(() => (rng.chance(0.6) ? 1 : -1));
  const high = level <= 2 ? 9 : ground.number(10, 20);
  const plus = ["The <Q> added {<b>}.", "{<b>} more came from the <Q>.", "Then {<b>} <U> arrived.", "The <Q> brought {<b>} <U>.", "Someone put in {<b>} more.", "{<b>} <U> were won."];
  const minus = ["The <Q> took {<b>}.", "{<b>} were lost.", "Then {<b>} <U> left.", "The <Q> used up {<b>}.", "Someone removed {<b>}.", "{<b>} <U> went to the <Q>."];
  const events = rest.map((id, i) => say(rng, signs[i] === 1 ? plus : minus, { Q: i % 2 === 0 ? Q : R, U, b: v(id) }));
  const opening = say(rng, ["The <P> held {<a>} <U>.", "At first there were {<a>} <U> in the <P>.", "{<a>} <U> lay in the <P>.", "Begin with {<a>} <U> in the <P>.", "The <P> has {<a>} <U>.", "A <P> starts at {<a>} <U>."], { P, U, a: v(start) });
  const low = signs.includes(-1) ? high * signs.filter((s) => s < 0).length + 1 : 2;
  const draw = signs.includes(-1) ? [...drawNumbers(context, [start], low, low + 9), ...drawNumbers(context, rest, 2, high)] : drawNumbers(context, ids, 2, high);
  return maybeTwist(context, {
    kind: "single",
    suffixes: ["Ledger", "Total", "Stock"],
    heads: [P, Q],
    draw,
    sentences: [opening, ...events, ...question(context, totals, { U, P })],
    expression: rest.reduce((text, id, i) => `${text} ${signs[i] === 1 ? "+" : "-"} ${v(id)}`, v(start)),
    answer: "number",
    work: (s) => chain(s.number(start), rest.map((id, i) => (signs[i] ?? 1) * s.number(id))),
    hints: ["Start with the first number and go change by change. Answer with the number.", "Add what comes in, subtract what goes out, one step at a time.", "Keep a running total and box the last number."],
  }, P);
}

function list(context: Context): SingleDraft {
  const { rng, ground, level, v } = context;
  const [P = "", Q = ""] = ground.words(2);
  const U = ground.unit(ground.word());
  const x = rng.pick(["x", "values", "data"]);
  const n = level + 1;
  const mode = rng.pick(level === 1 ? ["sum"] as const : ["sum", "but", "gap"] as const);
  const skip = ground.number(3, 5);
  const bar = constant(rng, v("bar"), skip);
  const high = level === 1 || mode === "sum" ? 9 : 15;
  const shown = rng.pick([`{', '.join(str(n) for n in ${v(x)})}`, Array.from({ length: n }, (_, i) => `{${v(x)}[${i}]}`).join(", ")]);
  const asks = {
    sum: ["What is their sum?", "How many <U> in all?", "Add them up.", "What do they make together?", "Give the total of the <P>."],
    but: ["Add only the numbers above <k>.", "What is the sum of those over <k>?", "Numbers of <k> or less do not count. Give the total."],
    gap: ["How far apart are the largest and the smallest?", "Subtract the smallest from the largest.", "What is the range from least to most?"],
  }[mode];
  const expression = mode === "sum" ? `sum(${v(x)})` : mode === "gap" ? `max(${v(x)}) - min(${v(x)})` : `sum(n for n in ${v(x)} if n > ${bar.code})`;
  const work = (values: readonly number[]): string => {
    if (mode === "gap") return `${Math.max(...values)}-${Math.min(...values)}=${Math.max(...values) - Math.min(...values)}`;
    const kept = mode === "sum" ? values : values.filter((value) => value > skip);
    const [first = 0, ...rest] = kept;
    return rest.length === 0 ? `only ${first}` : chain(first, rest);
  };
  const opening = say(rng, ["The <P> logged these <U>: <x>.", "Each <Q> of the <P> has some <U>: <x>.", "<x> are the <U> of the <P>.", "The <Q> readings were <x>.", "Counts at the <P>: <x>.", "We saw <x> <U> near the <Q>."], { P, Q, U, x: shown });
  return maybeTwist(context, {
    kind: "single",
    suffixes: ["Sums", "Readings", "Tally"],
    heads: [P, Q],
    draw: [...(mode === "but" ? bar.draw : []), rng.chance(0.5) ? `${v(x)} = [r.randint(2, ${high}) for _ in range(${n})]` : `${v(x)} = r.sample(range(2, ${high + 1}), ${n})`],
    sentences: [opening, ...question(context, asks, { U, P, k: bar.text })],
    expression,
    answer: "number",
    work: (s) => work(s.numbers(x)),
    hints: mode === "gap" ? ["Find the largest and the smallest, then subtract."] : ["Add the numbers one by one from the left.", "Keep a running sum; only count what the question asks for."],
  }, P);
}

function rate(context: Context): SingleDraft {
  const { rng, ground, level, v } = context;
  const [P = "", Q = ""] = ground.words(2);
  const U = ground.unit(ground.word());
  const k = ground.number(2, level === 1 ? 5 : 9);
  const [a = "a", b = "b"] = names(rng, 2);
  const sign = rng.pick(["+", "-"] as const);
  const extra = level >= 2;
  const swap = rng.chance(0.5);
  const unit = constant(rng, v(rng.pick(["rate", "each"])), k);
  const product = swap ? `${v(a)} * ${unit.code}` : `${unit.code} * ${v(a)}`;
  const each = say(rng, ["Each <P> gives <k> <U>.", "One <P> holds <k> <U>.", "Every <P> needs <k> <U>.", "A <P> is worth <k> <U>.", "There are <k> <U> per <P>.", "The <Q> takes <k> <U> for one <P>."], { P, Q, U, k: unit.text });
  const many = say(rng, ["There are {<a>} of them.", "The <Q> has {<a>} such.", "Someone brought {<a>}.", "We count {<a>} by the <Q>.", "{<a>} stand near the <Q>."], { Q, a: v(a) });
  const more = extra ? [say(rng, sign === "+" ? ["Also {<b>} <U> came extra.", "{<b>} more <U> lay in the <Q>.", "Then add {<b>} <U>."] : ["{<b>} <U> were lost.", "The <Q> took {<b>} <U>.", "Then remove {<b>} <U>."], { Q, U, b: v(b) })] : [];
  const low = level === 1 ? 2 : 3;
  return maybeTwist(context, {
    kind: "single",
    suffixes: ["Rate", "Supply", "Load"],
    heads: [P, Q],
    draw: [...unit.draw, ...drawNumbers(context, [a], low, level <= 1 ? 9 : level === 2 ? 8 : 12), ...(extra ? drawNumbers(context, [b], 1, sign === "-" ? Math.min(5, k * low - 1) : level === 2 ? 9 : 20) : [])],
    sentences: [...(rng.chance(0.7) ? [each, many] : [many, each]), ...more, ...question(context, ["How many <U> in all?", "How many <U> is that?", "Find the total of <U>.", "What is the number of <U>?", "How many <U> are there?", "Give the <U> altogether."], { U })],
    expression: extra ? `${product} ${sign} ${v(b)}` : product,
    answer: "number",
    work: (s) => {
      const p = k * s.number(a);
      const first = swap ? `${s.number(a)}*${k}=${p}` : `${k}*${s.number(a)}=${p}`;
      return extra ? `${first}, ${chain(p, [sign === "+" ? s.number(b) : -s.number(b)])}` : first;
    },
    hints: ["Multiply the amount of one by how many there are.", "First the product, then the rest. Reply with the number.", "Each one counts the same: multiply, then add or subtract what is left."],
  }, Q);
}

function sharing(context: Context): SingleDraft {
  const { rng, ground, level, v } = context;
  const [P = "", Q = ""] = ground.words(2);
  const k = ground.number(level === 1 ? 2 : 3, level === 1 ? 5 : 9);
  const [n = "n", m = "m"] = names(rng, 2);
  const plus = level >= 3 || (level === 2 && rng.chance(0.3));
  const size = constant(rng, v(rng.pick(["size", "each"])), k);
  const whole = plus ? `(${v(n)} + ${v(m)})` : v(n);
  const mode = level === 1 ? rng.pick(["full", "over"] as const) : rng.pick(["full", "over", "both", "both"] as const);
  const asks = {
    full: ["How many <Q> can be filled?", "How many full <Q> result?", "Count the complete <Q>."],
    over: ["How many <P> are left over?", "How many <P> remain?", "What is the rest?"],
    both: ["Give the full <Q> and the rest, two numbers.", "Reply with how many full <Q> and how many left over.", "State two numbers: complete <Q>, then remaining <P>."],
  }[mode];
  const expression = mode === "full" ? `${whole} // ${size.code}` : mode === "over" ? `${whole} % ${size.code}` : `[${whole} // ${size.code}, ${whole} % ${size.code}]`;
  const high = level === 1 ? 6 * k : 9 * k;
  return {
    kind: "single",
    suffixes: ["Share", "Packing", "Groups"],
    heads: [P, Q],
    draw: [...size.draw, ...drawNumbers(context, [n], k + 1, high), ...(plus ? drawNumbers(context, [m], 2, 9) : [])],
    sentences: [
      say(rng, ["{<n>} <P> are put into <Q>.", "There are {<n>} <P> to share out.", "Somebody packs {<n>} <P>.", "A pile of {<n>} <P> waits.", "We have {<n>} <P> for the <Q>."], { P, Q, n: v(n) }),
      ...(plus ? [say(rng, ["{<m>} more are found.", "Another {<m>} come.", "Then add {<m>} <P>."], { P, m: v(m) })] : []),
      say(rng, ["Each <Q> takes <k>.", "One <Q> has room for <k>.", "A <Q> is full at <k>.", "They go in groups of <k>, one per <Q>."], { Q, k: size.text }),
      say(rng, asks, { P, Q }),
    ],
    expression,
    answer: mode === "both" ? "list" : "number",
    work: (s) => {
      const total = s.number(n) + (plus ? s.number(m) : 0);
      const full = Math.floor(total / k);
      const steps = [...(plus ? [chain(s.number(n), [s.number(m)])] : []), `${full}*${k}=${full * k}`, `${total}-${full * k}=${total - full * k}`];
      return mode === "full" ? `${steps.join(", ")}, full ${full}` : steps.join(", ");
    },
    hints: ["Find the largest multiple that fits, then subtract it.", "Divide: the quotient is the full ones, the remainder is left over."],
  };
}

function filling(context: Context): ReturnType<Family["draft"]> {
  const { rng, ground, level } = context;
  const [P = "", Q = ""] = ground.words(2);
  const U = ground.unit(ground.word());
  const big = ground.number(5, level === 1 ? 6 : 8);
  const turns = level + 2;
  const low = big + 1;
  const high = big * (turns + 1) - 1;
  const act = rng.pick(["add", "give", "put"]);
  const over = rng.chance(0.5) ? ['    return self.finish(False, "Too much.")'] : ['    return self.finish(False, "It ran over.")'];
  const told = say(rng, [`The ${P} holds {self.level} of {self.goal}.`, "Now {self.level}, goal {self.goal}.", `{self.goal - self.level} ${U} to go.`]);
  const remaining = (observation: string | undefined, now: number, goal: number): number => (observation === undefined ? goal - now : Number(/(-?\d+) \w+ to go/.exec(observation)?.[1] ?? goal - Number(/(?:holds|Now) (\d+)/.exec(observation)?.[1])));
  return {
    kind: "multi",
    maxTurns: turns + big - 1,
    format: `Reply with ${act} and a number.`,
    suffixes: ["Filling", "Refill"],
    heads: [P, Q],
    draw: [`self.goal = r.randint(${low}, ${high})`, rng.chance(0.5) ? "self.level = 0" : "self.level = r.randint(0, 1)"],
    sentences: [
      say(rng, ["The <P> holds {self.level} <U> and must reach exactly {self.goal}.", "Fill the <P> from {self.level} to exactly {self.goal} <U>.", "Goal for the <P>: {self.goal} <U>, now {self.level}."], { P, U }),
      say(rng, [`Each turn reply ${act} 1 or ${act} ${big}.`, `You may ${act} 1 or ${act} ${big} per turn, in at most ${turns + big - 1} turns.`, `Moves: ${act} 1, ${act} ${big}.`]),
    ],
    step: [
      `if action == "${act} 1":`,
      "    self.level += 1",
      `elif action == "${act} ${big}":`,
      `    self.level += ${big}`,
      "else:",
      `    return self.tell("Use ${act} 1 or ${act} ${big}.")`,
      "if self.level > self.goal:",
      ...over,
      rng.chance(0.5) ? "if self.level == self.goal:" : "if self.goal == self.level:",
      '    return self.finish(True, "Exactly full.")',
      `return self.tell(f"${told}")`,
    ],
    solution: ["gap = self.goal - self.level", `return ["${act} ${big}"] * (gap // ${big}) + ["${act} 1"] * (gap % ${big})`],
    player: (s) => {
      const [now, goal] = [s.number("level"), s.number("goal")];
      return (observation) => {
        const gap = remaining(observation, now, goal);
        return gap >= big ? { work: `${gap} to go, ${gap}>=${big}.`, action: `${act} ${big}` } : { work: `${gap} to go, ${gap}<${big}.`, action: `${act} 1` };
      };
    },
    guess: (_, random) => `${act} ${random.pick([1, big])}`,
    hints: ["Use the large step while it still fits, then single steps.", "Watch how much is missing; never go over."],
  };
}

export const mathematical: readonly Family[] = [
  { name: "ledger", skill: "Mathematical Reasoning", draft: ledger },
  { name: "list", skill: "Mathematical Reasoning", draft: list },
  { name: "rate", skill: "Mathematical Reasoning", draft: rate },
  { name: "sharing", skill: "Mathematical Reasoning", draft: sharing },
  { name: "filling", skill: "Mathematical Reasoning", draft: filling },
];
