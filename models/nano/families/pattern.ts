import type { Context, Draft, Family } from "./draft.ts";
import { say, wordList } from "./draft.ts";

function sequence(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const [P = "", Q = ""] = ground.words(2);
  const U = ground.unit(ground.word());
  const shown = rng.int(3, 4);
  const [a = "a", d = "d"] = rng.pick([["a", "d"], ["first", "gap"], ["n", "k"], ["base", "jump"]]);
  const mode = rng.pick(level === 1 ? ["up"] as const : level === 2 ? ["up", "down", "later"] as const : ["later", "double", "grow", "down"] as const);
  const later = mode === "later" ? shown + rng.int(1, 2) : shown;
  const term = (i: string, zero: boolean): string =>
    mode === "down" ? `${v(a)} - ${i} * ${v(d)}` : mode === "double" ? `${v(a)} * 2 ** ${i}` : mode === "grow" ? `${v(a)} + ${i} * (${i} + 1) // 2` : zero && i === "0" ? v(a) : `${v(a)} + ${i} * ${v(d)}`;
  const x = rng.pick(["row", "terms", "seen"]);
  const useList = rng.chance(0.6);
  const high = level <= 2 ? 9 : 12;
  const low = mode === "down" ? 6 * (shown + 1) : 1;
  const draw = [
    `${v(a)} = r.randint(${low}, ${low + (mode === "double" ? 4 : high)})`,
    ...(mode === "double" || mode === "grow" ? [] : [`${v(d)} = r.randint(2, ${mode === "down" ? 5 : level === 1 ? 5 : 9})`]),
    ...(useList ? [`${x} = [${term("i", false)} for i in range(${shown})]`] : []),
  ];
  const text = useList ? rng.pick([`{', '.join(str(n) for n in ${x})}`, `{' '.join(str(n) for n in ${x})}`]) : Array.from({ length: shown }, (_, i) => `{${term(String(i), true)}}`).join(", ");
  const asks = mode === "later" ? ["What will number <i> be?", "Find term <i>.", "Which value stands at place <i>?"] : ["What comes next?", "What is the next number?", "How many <U> come next?", "Continue with one number.", "Which number follows?"];
  const values = (s: { number: (name: string) => number }): number[] => Array.from({ length: later + 1 }, (_, i) => (mode === "down" ? s.number(a) - i * s.number(d) : mode === "double" ? s.number(a) * 2 ** i : mode === "grow" ? s.number(a) + (i * (i + 1)) / 2 : s.number(a) + i * s.number(d)));
  return {
    kind: "single",
    suffixes: ["Series", "Sequence", "Steps"],
    heads: [P, Q],
    draw,
    sentences: [
      say(rng, ["The <P> shows <x>.", "Each day the <P> counts <U>: <x>.", "<x> are the marks of the <P>.", "A <P> ticks <x>.", "On the <Q> is written <x>.", "The <P> went through <x> <U>.", "Look at this: <x>."], { P, Q, U, x: text }),
      ...(rng.chance(0.2) ? [say(rng, ["The rule stays the same.", "It goes on like this.", "The pattern holds."])] : []),
      say(rng, asks, { U, i: later + 1 }),
    ],
    expression: term(String(later), false),
    answer: "number",
    work: (s) => {
      const list = values(s);
      const [p = 0, q = 0] = list;
      if (mode === "double") return `${p}*2=${q}, ${list[later - 1] ?? 0}*2=${list[later] ?? 0}`;
      const gaps = list.slice(0, later + 1).flatMap((value, i) => (i === 0 ? [] : [value - (list[i - 1] ?? 0)]));
      if (mode === "grow") return `steps ${gaps.join(" ")}, ${list[later - 1] ?? 0}+${gaps.at(-1) ?? 0}=${list[later] ?? 0}`;
      const gap = Math.abs(q - p);
      const first = mode === "down" ? `${p}-${q}=${gap}` : `${q}-${p}=${gap}`;
      return [first, ...list.slice(shown, later + 1).map((value, i) => `${list[shown + i - 1] ?? 0}${mode === "down" ? "-" : "+"}${gap}=${value}`)].join(", ");
    },
    hints: mode === "double" ? ["Each number is twice the one before."] : ["Find the difference of two neighbours and go on with it.", "Look at the step from one number to the next, then apply it to the last one."],
  };
}

function cycle(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const n = Math.min(level + 3, 5);
  const things = ground.words(n);
  const ring = rng.pick(["ring", "loop", "cycle"]);
  const [i = "i"] = rng.pick([["i"], ["k"], ["shift"]]);
  const turns = level === 1 ? 1 : 2;
  const mode = level === 1 ? "next" : rng.pick(["next", "two"] as const);
  const len = `${n * turns} + ${v(i)}`;
  const ahead = mode === "two" ? 2 : 1;
  const shown = rng.pick([`{' '.join(${v(ring)}[k % ${n}] for k in range(${len}))}`, `{', '.join(${v(ring)}[k % ${n}] for k in range(${len}))}`]);
  const index = ahead === 1 ? v(i) : `(${v(i)} + 1) % ${n}`;
  const asks = mode === "next" ? ["What comes next?", "Which one follows?", "Name the next one.", "What will be seen next?"] : ["Name the next two.", "Which two come next?", "Reply with the next two words."];
  return {
    kind: "single",
    suffixes: ["Cycle", "Round", "Chain"],
    heads: things.slice(0, 2),
    draw: [
      ...(rng.chance(0.5) ? [`${v(ring)} = r.sample(${wordList(things)}, ${n})`] : [`${v(ring)} = ${wordList(things)}`, `r.shuffle(${v(ring)})`]),
      rng.chance(0.5) ? `${v(i)} = r.randint(0, ${n - 1})` : `${v(i)} = r.randrange(${n})`,
    ],
    sentences: [
      say(rng, ["They pass in a round: <x>.", "Seen so far: <x>.", "The order repeats: <x>.", "One after another came <x>.", "A wheel shows <x> and so on.", "The list runs <x>."], { x: shown }),
      say(rng, asks),
    ],
    expression: mode === "two" ? `[${v(ring)}[${v(i)}], ${v(ring)}[${index}]]` : `${v(ring)}[${index}]`,
    answer: mode === "two" ? "list" : "word",
    options: (s) => s.texts(ring),
    work: (s) => {
      const list = s.texts(ring);
      const k = s.number(i);
      const at = (j: number): string => list[((j % n) + n) % n] ?? "";
      return `${list.join(" ")}; ${[at(k - 1), at(k), ...(mode === "two" ? [at(k + 1)] : [])].join(" > ")}`;
    },
    hints: ["Find the part that repeats, then see what followed the last one before.", "Look where the last word stood earlier: what came after it comes again."],
  };
}

function machine(context: Context): Draft {
  const { rng, ground, level } = context;
  const [P = "", Q = ""] = ground.words(2);
  const scaled = level >= 3;
  const big = ground.number(11, 30);
  const high = level === 1 ? 9 : 20;
  const [ask, reply] = rng.pick([["try", "answer"], ["ask", "say"], ["send", "guess"], ["probe", "final"]] as const);
  const turns = scaled ? 4 : 3;
  const f = (n: string): string => (scaled ? `self.k * ${n} + self.c` : level === 2 ? `abs(self.c - ${n})` : `${n} + self.c`);
  const mirror = level === 2;
  const low = mirror ? big + 12 : 2;
  const draw = [scaled ? `self.k, self.c = r.randint(2, 4), r.randint(1, 9)` : `self.c = r.randint(${low}, ${low + high})`];
  const bad = `Use ${ask} 2 or ${reply} 9.`;
  return {
    kind: "multi",
    maxTurns: turns,
    format: `Use ${ask} N, then ${reply} N.`,
    suffixes: ["Machine", "Rule", "Box"],
    heads: [P, Q],
    draw,
    sentences: [
      say(rng, ["The <P> turns each number into another by a fixed rule.", "Put a number into the <P> and another comes out, always by one rule.", "A hidden rule in the <P> changes numbers.", "The <Q> of the <P> maps numbers to numbers."], { P, Q }),
      say(rng, ["What does it make of <b>?", "Find what comes out for <b>.", "Predict the output for <b>."], { b: big }),
      say(rng, ["Test small numbers with <a> 2, then reply <r> 9.", "Reply <a> 3 to test a number up to 9, or <r> 8 to finish.", "Moves: <a> N (N up to 9), <r> N."], { a: ask, r: reply }),
    ],
    step: [
      "words = action.split()",
      rng.chance(0.5) ? `if len(words) == 2 and words[0] == "${reply}":` : `if action.startswith("${reply} ") and len(words) == 2:`,
      `    return self.judge(words[1], ${f(String(big))})`,
      `if len(words) != 2 or words[0] != "${ask}" or words[1] not in list("0123456789"):`,
      `    return self.tell("${bad}")`,
      "n = int(words[1])",
      rng.pick([`return self.tell(f"{n} gives {${f("n")}}.")`, `return self.tell(f"Out comes {${f("n")}}.")`]),
    ],
    solution: [`return [f"${reply} {${f(String(big))}}"]`],
    player: () => {
      const seen: number[] = [];
      return (observation) => {
        if (observation !== undefined) seen.push(Number(/-?\d+\.$/.exec(observation)?.[0].slice(0, -1)));
        const [zero = 0, one = 0] = seen;
        if (seen.length === 0) return { work: "test 0.", action: `${ask} 0` };
        if (seen.length === 1 && (scaled || mirror)) return { work: "test 1.", action: `${ask} 1` };
        if (!scaled && !mirror) return { work: `adds ${zero}, ${big}+${zero}=${big + zero}.`, action: `${reply} ${big + zero}` };
        if (mirror) return { work: `${zero} falls by 1, ${zero}-${big}=${zero - big}.`, action: `${reply} ${zero - big}` };
        const k = one - zero;
        return { work: `${one}-${zero}=${k}, ${k}*${big}=${k * big}, ${k * big}+${zero}=${k * big + zero}.`, action: `${reply} ${k * big + zero}` };
      };
    },
    guess: (_, random) => (random.chance(0.6) ? `${ask} ${random.int(1, 9)}` : `${reply} ${big + random.int(1, high)}`),
    hints: scaled ? ["Test 0 and 1: the first gives the constant, the difference the factor."] : mirror ? ["Test 0 and 1 to see whether it grows or falls."] : ["Test 0 first: it shows what is added. Then add it to the given number."],
  };
}

export const pattern: readonly Family[] = [
  { name: "sequence", skill: "Pattern Recognition", draft: sequence },
  { name: "cycle", skill: "Pattern Recognition", draft: cycle },
  { name: "machine", skill: "Pattern Recognition", draft: machine },
];
