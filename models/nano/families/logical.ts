import type { Context, Draft, Family } from "./draft.ts";
import { constant, say, wordList } from "./draft.ts";

const ordinals = ["first", "second", "third", "fourth", "fifth", "sixth"];

function order(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const n = Math.min(level + 2, 6);
  const things = ground.words(n);
  const list = rng.pick(["row", "line", "order"]);
  const whole = level <= 2 || rng.chance(0.5);
  const rank = rng.int(1, n - 1);
  const back = rng.chance(0.4);
  const clue = say(rng, back
    ? ["{b} comes right after {a}.", "{b} follows {a}.", "Just behind {a} is {b}.", "After {a} comes {b}.", "{a} is followed by {b}."]
    : ["{a} comes right before {b}.", "{a} is directly ahead of {b}.", "{a} precedes {b}.", "Next after {a} is {b}.", "{a} stands just in front of {b}."]);
  const pairs = rng.pick([`zip(${v(list)}, ${v(list)}[1:])`, `zip(${v(list)}[:-1], ${v(list)}[1:])`]);
  const clues = rng.pick(["clues", "facts", "notes"]);
  const draw = rng.chance(0.5) ? [`${v(list)} = r.sample(${wordList(things)}, ${n})`] : [`${v(list)} = ${wordList(things)}`, `r.shuffle(${v(list)})`];
  const drawClues = [`${clues} = [f"${clue}" for a, b in ${pairs}]`, rng.chance(0.5) ? `r.shuffle(${clues})` : `${clues} = r.sample(${clues}, ${n - 1})`];
  const place = rng.pick(["head", "find", "who"]);
  const at = rank === n - 1 && rng.chance(0.5) ? "last" : (ordinals[rank] ?? "last");
  const ask = whole
    ? say(rng, ["List all <n> from first to last.", "Write the whole order, first to last.", "Name them in order, the first one first.", "What is the full order of the <n>?", "Give the order as words with spaces."], { n })
    : say(rng, ["Which is <at>?", "Name the <at> one.", "What comes <at>?", "Which of the <n> is <at>?"], { n, at });
  return {
    kind: "single",
    suffixes: ["Order", "Queue", "Ranking"],
    heads: things.slice(0, 2),
    draw: [...draw, ...drawClues],
    sentences: [
      say(rng, ["<n> things stand in line.", "Some things were put in order.", "Find the order.", "<n> things came one after another.", "There is one row of <n>.", "They arrived one by one."], { n }),
      rng.pick([`{' '.join(${clues})}`, Array.from({ length: n - 1 }, (_, i) => `{${clues}[${i}]}`).join(" ")]),
      ask,
    ],
    expression: whole ? v(list) : at === "last" && place === "who" ? `${v(list)}[-1]` : `${v(list)}[${rank}]`,
    answer: whole ? "list" : "word",
    options: (s) => s.texts(list),
    work: (s) => s.texts(list).join(" > "),
    hints: ["Find the one that nothing comes before, then follow the chain of clues.", "Start with the thing that is never second in a clue and go on from there.", "Chain the clues into one line. Reply with words."],
  };
}

function classify(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const [P = "", A = "", B = ""] = ground.words(3);
  const U = ground.unit(ground.word());
  const n = level + 2;
  const x = rng.pick(["x", "values", "data"]);
  const limit = ground.number(4, 20);
  const bar = constant(rng, v("limit"), limit);
  const mode = rng.pick(level === 1 ? ["over", "under"] as const : ["over", "under", "even", "between"] as const);
  const low = Math.max(2, limit - 6);
  const test = { over: `n > ${bar.code}`, under: `n < ${bar.code}`, even: "n % 2 == 0", between: `${low} < n < ${bar.code}` }[mode];
  const rule = {
    over: ["Above <k> <U> say <A>, else <B>.", "If it is more than <k>, the answer is <A>; otherwise <B>.", "More than <k> means <A>, the rest mean <B>."],
    under: ["Below <k> <U> say <A>, else <B>.", "Less than <k> means <A>, anything else means <B>.", "If it is under <k>, choose <A>; if not, <B>."],
    even: ["Even numbers go to <A>, odd ones to <B>.", "An even value means <A>, an odd one <B>."],
    between: ["Between <l> and <k> (not equal) say <A>, else <B>.", "More than <l> but less than <k> means <A>, otherwise <B>."],
  }[mode];
  const holds = (value: number): boolean => ({ over: value > limit, under: value < limit, even: value % 2 === 0, between: low < value && value < limit })[mode];
  const explain = (value: number): string => (mode === "over" ? `${value}${value > limit ? ">" : "<="}${limit}` : mode === "under" ? `${value}${value < limit ? "<" : ">="}${limit}` : String(value));
  const comprehension = `["${A}" if ${test} else "${B}" for n in ${v(x)}]`;
  const loop = rng.chance(0.35);
  return {
    kind: "single",
    suffixes: ["Sorter", "Rules", "Labels"],
    heads: [P, A],
    draw: [...(mode === "even" ? [] : bar.draw), rng.chance(0.5) ? `${v(x)} = [r.randint(${Math.max(1, low - 3)}, ${limit + 6}) for _ in range(${n})]` : `${v(x)} = r.sample(range(${Math.max(1, low - 3)}, ${limit + 8}), ${n})`],
    sentences: rng.pick([(a: string, b: string) => [a, b], (a: string, b: string) => [b, a]])(
      say(rng, ["The <P> shows <x>.", "Readings of the <P>: <x>.", "The numbers are <x>.", "<x> came from the <P>.", "In turn the <P> gave <x>."], { P, x: `{', '.join(str(n) for n in ${v(x)})}` }),
      say(rng, rule, { k: bar.text, l: low, A, B, U }),
    ).concat(say(rng, ["Reply with one word for each number.", "Give <n> words in order.", "Name the word for each, with spaces.", "One word per number, in the same order."], { n })),
    ...(loop ? { prepare: ["marks = []", `for n in ${v(x)}:`, `    marks.append("${A}" if ${test} else "${B}")`], expression: "marks" } : { expression: comprehension }),
    answer: "list",
    options: () => [A, B],
    work: (s) => s.numbers(x).map((value) => `${explain(value)} ${holds(value) ? A : B}`).join(", "),
    hints: ["Test the numbers one at a time with the rule and write one word for each.", "Go from left to right; the rule gives one of two words."],
  };
}

function elimination(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const n = Math.min(level + 5, Math.max(5, ground.left - 2));
  const things = ground.words(n);
  const [left, out] = rng.pick([["left", "out"], ["keep", "gone"], ["secret", "others"]] as const);
  const all = rng.pick(["names", "things", "items"]);
  const picks = level >= 3 ? 2 : 1;
  const start = rng.chance(0.5) ? [`${all} = r.sample(${wordList(things)}, ${n})`] : [`${all} = ${wordList(things)}`, `r.shuffle(${all})`];
  const rest = `[w for w in ${all} if w not in ${out}]`;
  const choose =
    picks === 2
      ? [`${out} = r.sample(${all}, ${n - 2})`, `${v(left)} = ${rest}`]
      : rng.pick([
          [`${out} = r.sample(${all}, ${n - 1})`, `${v(left)} = ${rest}[0]`],
          [`${v(left)} = r.choice(${all})`, `${out} = [w for w in ${all} if w != ${v(left)}]`, ...(rng.chance(0.5) ? [`r.shuffle(${out})`] : [])],
          [`${v(left)} = r.choice(${all})`, `${out} = sorted(w for w in ${all} if w != ${v(left)})`],
        ]);
  const draw = [...start, ...choose];
  const denied = rng.pick([`{', '.join(${out})}`, `{' and '.join(${out})}`]);
  const asks = picks === 1 ? ["Which one is left?", "Which is it?", "Name the one that remains.", "Who is the only candidate?"] : ["Which two are left, in the order listed?", "Name the two that remain, in the order given."];
  return {
    kind: "single",
    suffixes: ["Suspects", "Choice", "Remains"],
    heads: things.slice(0, 2),
    draw,
    sentences: rng.pick([(a: string, b: string) => [a, b], (a: string, b: string) => [a, b], (a: string, b: string) => [b, a]])(
      say(rng, ["It is one of <l>.", "The candidates are <l>.", "We chose among <l>.", "The list reads <l>.", "Possible: <l>."], { l: `{', '.join(${all})}` }),
      say(rng, ["It is not <o>.", "We can rule out <o>.", "Excluded: <o>.", "These were proved wrong: <o>.", "Checked and found innocent: <o>."], { o: denied }),
    ).concat(say(rng, asks)),
    expression: v(left),
    answer: picks === 1 ? "word" : "list",
    options: (s) => s.texts(all),
    work: (s) => s.texts(all).map((word) => `${word} ${(picks === 1 ? [s.text(left)] : s.texts(left)).includes(word) ? "left" : "out"}`).join(", "),
    hints: ["Cross out what is ruled out; what stays is the answer.", "Go through the list and check each one against the excluded ones."],
  };
}

function lock(context: Context): Draft {
  const { rng, ground, level } = context;
  const n = level >= 3 ? 3 : 2;
  const [P = "", Q = ""] = ground.words(2);
  const high: number = level === 1 ? 5 : level === 2 ? 7 : 9;
  const [up, down] = rng.pick([["higher", "lower"], ["up", "down"], ["more", "less"], ["raise", "reduce"]] as const);
  const fine = rng.pick(["right", "good", "ok"]);
  const turns = level === 1 ? 4 : 5;
  const code = rng.pick(["code", "secret", "key"]);
  const marks = `["${up}" if int(g) < n else "${down}" if int(g) > n else "${fine}" for g, n in zip(parts, self.${code})]`;
  const middle = (a: number, b: number): number => Math.floor((a + b) / 2);
  return {
    kind: "multi",
    maxTurns: turns,
    format: `Reply with ${n} numbers.`,
    suffixes: ["Lock", "Dials"],
    heads: [P, Q],
    draw: [`self.${code} = [r.randint(1, ${high}) for _ in range(${n})]`],
    sentences: [
      say(rng, ["The <P> is locked by <n> dials, each from 1 to <h>.", "A <P> hides <n> numbers from 1 to <h>.", "Find the <n> numbers of the <P>, each 1 to <h>.", "The <Q> of the <P> has <n> secret digits, 1 to <h>."], { P, Q, n, h: high }),
      say(rng, ["For each you hear <u>, <d> or <f>.", "Every try is answered with <u>, <d> or <f> per number.", "You will be told <u>, <d> or <f> for each one."], { u: up, d: down, f: fine }),
      say(rng, ["Reply with <n> numbers.", "Answer like 3 4." + (n === 3 ? "" : ""), "You have <t> tries."], { n, t: turns }),
    ],
    step: [
      'parts = action.replace(",", " ").split()',
      rng.chance(0.5) ? `if len(parts) != ${n} or not all(g in "123456789" for g in parts):` : `if len(parts) != ${n} or any(g not in "123456789" for g in parts):`,
      `    return self.tell("Reply with ${n} numbers.")`,
      `marks = ${marks}`,
      ...(rng.chance(0.5) ? [`if marks == ["${fine}"] * ${n}:`] : [`if all(m == "${fine}" for m in marks):`]),
      '    return self.finish(True, "Open.")',
      'return self.tell(" ".join(marks))',
    ],
    solution: [`return [" ".join(str(n) for n in self.${code})]`],
    player: () => {
      const lows = Array.from({ length: n }, () => 1);
      const highs = Array.from({ length: n }, () => high);
      let last = lows.map((a, i) => middle(a, highs[i] ?? high));
      return (observation) => {
        observation?.split(" ").forEach((mark, i) => {
          if (mark === up) lows[i] = (last[i] ?? 0) + 1;
          else if (mark === down) highs[i] = (last[i] ?? 0) - 1;
          else lows[i] = highs[i] = last[i] ?? 0;
        });
        last = lows.map((a, i) => middle(a, highs[i] ?? high));
        return { work: lows.map((a, i) => `${a}-${highs[i] ?? high}: ${last[i] ?? 0}`).join(", ") + ".", action: last.join(" ") };
      };
    },
    guess: (_, random) => Array.from({ length: n }, () => random.int(1, high)).join(" "),
    hints: ["Try the middle of each range, then move every dial by what you hear.", "Keep a range for each number and halve it every turn."],
  };
}

export const logical: readonly Family[] = [
  { name: "order", skill: "Logical Deduction", draft: order },
  { name: "classify", skill: "Logical Deduction", draft: classify },
  { name: "elimination", skill: "Logical Deduction", draft: elimination },
  { name: "lock", skill: "Logical Deduction", draft: lock },
];
