import type { Context, Draft, Family } from "./draft.ts";
import { constant, drawNumbers, names, say, wordList } from "./draft.ts";

/** The largest or smallest of several named values, under a limit from level 2 on. */
function best(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const n = Math.min(level + 4, Math.max(5, Math.min(7, ground.left - 1)));
  const things = ground.words(n);
  const U = ground.unit("points");
  const most = rng.chance(0.5);
  const capped = level >= 2;
  const cap = ground.number(8, 16);
  const high = level === 1 ? 20 : cap + 9;
  const bound = constant(rng, v("limit"), most ? cap : cap - 4);
  const [x, list] = rng.pick([["x", "names"], ["cost", "items"], ["score", "things"]] as const);
  const inside = most ? `${v(x)}[w] <= ${bound.code}` : `${v(x)}[w] >= ${bound.code}`;
  const wanted = most ? "most" : "least";
  const fitting = capped ? rng.pick([`[w for w in ${v(x)} if ${inside}]`, `(w for w in ${v(x)} if ${inside})`]) : v(x);
  const key = rng.pick([`${v(x)}.get`, `lambda w: ${v(x)}[w]`]);
  const fence = capped ? [say(rng, most ? ["More than <k> is not allowed.", "Nothing above <k> may be taken.", "The limit is <k> <U>.", "It must not go over <k>."] : ["Less than <l> is not allowed.", "At least <l> <U> are needed.", "Nothing below <l> will do."], { k: bound.text, l: bound.text, U })] : [];
  return {
    kind: "single",
    suffixes: ["Pick", "Best", "Select"],
    heads: things.slice(0, 2),
    draw: [
      ...(capped ? bound.draw : []),
      `${list} = ${wordList(things)}`,
      rng.pick([`${v(x)} = dict(zip(${list}, r.sample(range(1, ${high}), ${n})))`, `${v(x)} = {w: n for w, n in zip(${list}, r.sample(range(1, ${high}), ${n}))}`]),
      ...(capped ? [most ? `${v(x)}[r.choice(${list})] = ${rng.int(2, cap - 1)}` : `${v(x)}[r.choice(${list})] = ${cap + rng.int(1, 8)}`] : []),
    ],
    sentences: [
      say(rng, ["The choices are <x>.", "Compare <x>.", "On offer: <x>.", "They measured <x>.", "Each has some <U>: <x>.", "The table says <x>."], { U, x: `{', '.join(w + ' ' + str(n) for w, n in ${v(x)}.items())}` }),
      ...fence,
      say(rng, most ? ["Which has the <m>?", "Name the one with the <m> <U>.", "Which is the largest allowed?", "Choose the one with the <m>."] : ["Which has the <m>?", "Name the one with the <m> <U>.", "Which is the smallest allowed?", "Choose the one with the <m>."], { m: wanted, U }),
    ],
    expression: `${most ? "max" : "min"}(${fitting}, key=${key})`,
    answer: "word",
    options: (s) => [...(s.list(x) as unknown as [string, number][]).map(([word]) => word)],
    work: (s) => {
      let top: [string, number] | undefined;
      const steps: string[] = [];
      for (const entry of s.list(x) as [string, number][]) {
        const allowed = !capped || (most ? entry[1] <= cap : entry[1] >= cap - 4);
        if (allowed && (top === undefined || (most ? entry[1] > top[1] : entry[1] < top[1]))) top = entry;
        steps.push(allowed ? `${entry[1]} best ${top?.[1] ?? 0}` : `${entry[1]} no`);
      }
      return `${steps.join(", ")}: ${top?.[0] ?? ""}`;
    },
    hints: ["Keep the best seen so far and go through all. Reply with its name.", capped ? "Skip what breaks the limit, then compare the rest one by one." : "Compare the numbers one by one. Reply with the name."],
  };
}

/** How many fit into a budget: one price, or the cheapest of several first. */
function budget(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const [P = "", Q = ""] = ground.words(2);
  const U = ground.unit("coins");
  if (level >= 2 && rng.chance(0.7)) return greedy(context, P, Q, U);
  const k = ground.number(2, level === 1 ? 5 : 9);
  const fee = level >= 2 ? ground.number(2, 8) : 0;
  const price = constant(rng, v("price"), k);
  const [m = "m"] = names(rng, 1);
  const rest = fee > 0 ? `(${v(m)} - ${fee})` : v(m);
  return {
    kind: "single",
    suffixes: ["Budget", "Limit", "Purse"],
    heads: [P, Q],
    draw: [...price.draw, ...drawNumbers(context, [m], k + fee + 1, k * (level === 1 ? 5 : 9) + fee)],
    sentences: [
      say(rng, ["There are {<m>} <U> to spend.", "The <Q> has {<m>} <U>.", "At most {<m>} <U> may be used.", "{<m>} <U> are available.", "The <Q> allows {<m>} <U>."], { Q, U, m: v(m) }),
      ...(fee > 0 ? [say(rng, ["Entry costs <f> once.", "First <f> are paid as a fee.", "<f> of them must be kept."], { f: fee })] : []),
      say(rng, ["Each <P> costs <k>.", "One <P> needs <k> <U>.", "A <P> uses <k>.", "Every <P> takes <k> <U>."], { P, U, k: price.text }),
      say(rng, ["How many can be had at most?", "What is the largest number of <P> possible?", "How many fit?", "Find the most that can be bought."], { P }),
    ],
    expression: `${rest} // ${price.code}`,
    answer: "number",
    work: (s) => {
      const left = s.number(m) - fee;
      const count = Math.floor(left / k);
      return [...(fee > 0 ? [`${s.number(m)}-${fee}=${left}`] : []), `${count}*${k}=${count * k}, ${count + 1}*${k}=${(count + 1) * k}>${left}, so ${count}`].join(", ");
    },
    hints: ["Find the largest multiple of the price that stays within the limit.", ...(fee > 0 ? ["Take off the fee first, then see how often the price fits."] : [])],
  };
}

function greedy({ rng, level, v }: Context, P: string, Q: string, U: string): Draft {
  const n = level + 2;
  const [x, m] = rng.pick([["x", "m"], ["costs", "money"], ["sizes", "room"]] as const);
  const mode = rng.pick(["sum", "left", "both"] as const);
  const expression = { sum: "used", left: `${v(m)} - used`, both: "[count, used]" }[mode];
  return {
    kind: "single",
    suffixes: ["Budget", "Fitting", "Cargo"],
    heads: [P, Q],
    draw: [`${v(x)} = r.sample(range(2, 13), ${n})`, `${v(m)} = r.randint(8, ${8 + 4 * level})`],
    prepare: [
      rng.chance(0.5) ? "used, count = 0, 0" : "used = count = 0",
      `for n in sorted(${v(x)}):`,
      ...(rng.chance(0.5) ? [`    if used + n <= ${v(m)}:`, "        used += n", "        count += 1"] : [`    if used + n > ${v(m)}:`, "        break", "    used, count = used + n, count + 1"]),
    ],
    sentences: [
      say(rng, ["Each <P> has its price in <U>: <x>.", "The <P> sizes are <x>.", "To take along: <P> of <x> <U>.", "There are <P> of <x>.", "Costs: <x>."], { P, U, x: `{', '.join(str(n) for n in ${v(x)})}` }),
      say(rng, ["The <Q> holds {<m>}.", "At most {<m>} <U> fit the <Q>.", "We may spend {<m>}.", "The limit is {<m>} <U>.", "There is room for {<m>}."], { Q, U, m: v(m) }),
      say(rng, { sum: ["Take as many as possible. What do they use together?", "As many as possible shall fit: what is their sum?"], left: ["Take as many as possible. How much room is left?", "When as many as possible are taken, what is left over?"], both: ["Take as many as possible. Give how many and their sum.", "How many fit at most, and what is their sum? Two numbers."] }[mode]),
    ],
    expression,
    answer: mode === "both" ? "list" : "number",
    work: (s) => {
      let sum = 0;
      const steps: string[] = [];
      const sorted = s.numbers(x).sort((a, b) => a - b);
      let fit = 0;
      for (const value of sorted) {
        const next = sum + value;
        if (next > s.number(m)) {
          steps.push(`${sum}+${value}=${next}>${s.number(m)}`);
          break;
        }
        steps.push(`${sum}+${value}=${next}`);
        sum = next;
        fit++;
      }
      return `sorted ${sorted.join(" ")}; ${steps.join(", ")}; ${{ sum: `sum ${sum}`, left: `${s.number(m)}-${sum}=${s.number(m) - sum}`, both: `${fit} with sum ${sum}` }[mode]}`;
    },
    hints: ["Sort them and take the smallest first until the next one is too much.", "Small ones first: add them up while the sum stays within the limit."],
  };
}

function tuning(context: Context): Draft {
  const { rng, ground, level } = context;
  const [P = "", Q = ""] = ground.words(2);
  const U = ground.unit("marks");
  const high = level === 1 ? ground.number(12, 15) : level === 2 ? ground.number(16, 30) : ground.number(31, 60);
  const turns = Math.ceil(Math.log2(high + 1));
  const [more, less] = rng.pick([["higher", "lower"], ["more", "less"], ["too low", "too high"], ["up", "down"]] as const);
  const best = rng.pick(["best", "spot", "peak"]);
  const say2 = rng.pick([(w: string) => w, (w: string) => `The ${P} says ${w}.`, (w: string) => `It should be ${w}.`]);
  const [up, down] = more === "too low" ? [more, less] : [say2(more), say2(less)];
  const branch = rng.chance(0.5)
    ? [`if n < self.${best}:`, `    return self.tell("${up}")`, `return self.tell("${down}")`]
    : [`return self.tell("${up}" if n < self.${best} else "${down}")`];
  return {
    kind: "multi",
    maxTurns: turns,
    format: "Reply with one number.",
    suffixes: ["Tuning", "Dial", "Setting"],
    heads: [P, Q],
    draw: [rng.chance(0.5) ? `self.${best} = r.randint(1, ${high})` : `self.${best} = r.choice(range(1, ${high + 1}))`],
    sentences: [
      say(rng, ["The <P> works best at one secret setting from 1 to <h>.", "Somewhere between 1 and <h> <U> the <P> is at its best.", "Set the <P> to its hidden best value, 1 to <h>.", "One number from 1 to <h> suits the <P> of the <Q>.", "Find the best <U> for the <P>, from 1 to <h>."], { P, Q, U, h: high }),
      say(rng, ["Each reply is answered with <m> or <l>.", "After a wrong number you hear <m> or <l>.", "You will be told <m> or <l>."], { m: more, l: less }),
      say(rng, ["You have <t> tries.", "At most <t> turns.", "Reply with a number; <t> tries."], { t: turns }),
    ],
    step: [
      "try:",
      "    n = int(action)",
      "except ValueError:",
      '    return self.tell("Reply with a number.")',
      `if n == self.${best}:`,
      '    return self.finish(True, "That is it.")',
      ...branch,
    ],
    solution: [`return [self.${best}]`],
    player: () => {
      let [a, b] = [1, high];
      let n = 0;
      return (observation) => {
        if (observation !== undefined) {
          if (observation === up) a = n + 1;
          else b = n - 1;
        }
        n = Math.floor((a + b) / 2);
        return { work: `${a}-${b}: ${n}.`, action: String(n) };
      };
    },
    guess: (_, random) => String(random.int(1, high)),
    hints: ["Always try the middle of what is still possible.", "Halve the range each turn: keep the lower and upper bound in mind."],
  };
}

export const optimization: readonly Family[] = [
  { name: "best", skill: "Optimization", draft: best },
  { name: "budget", skill: "Optimization", draft: budget },
  { name: "tuning", skill: "Optimization", draft: tuning },
];
