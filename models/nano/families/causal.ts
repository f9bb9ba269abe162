import type { Context, Draft, Family } from "./draft.ts";
import { say, wordList } from "./draft.ts";
import { chain as sums } from "./mathematical.ts";

/** A chain of causes with delays: when does the last effect come? Clauses are shuffled from level 2 on. */
function delays(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const n = Math.min(level + 1, 5);
  const things = ground.words(n + 1);
  const U = ground.unit("minutes");
  const [x, order] = rng.pick([["x", "order"], ["waits", "parts"], ["times", "links"]] as const);
  const fixed = rng.chance(0.5);
  const clue = say(rng, ["{a} starts {b} after {n}.", "{n} <U> after {a} comes {b}.", "{b} follows {a} by {n}.", "{a} sets off {b} in {n} <U>.", "Once {a} runs, {b} needs {n} more.", "{a} causes {b}, {n} later."], { U });
  const clues = rng.pick(["clues", "facts", "rules"]);
  const start = rng.chance(0.3) ? ground.number(2, 9) : 0;
  const first = fixed ? (things[0] ?? "") : `{${v(order)}[0]}`;
  const last = fixed ? (things[n] ?? "") : `{${v(order)}[-1]}`;
  const shuffled = level >= 2 || rng.chance(0.3);
  return {
    kind: "single",
    suffixes: ["Cascade", "Delay", "Timing"],
    heads: things.slice(0, 2),
    draw: [
      fixed ? `${v(order)} = ${wordList(things)}` : `${v(order)} = r.sample(${wordList(things)}, ${n + 1})`,
      rng.chance(0.5) ? `${v(x)} = [r.randint(1, ${level <= 2 ? 9 : 15}) for _ in range(${n})]` : `${v(x)} = r.sample(range(1, ${level <= 2 ? 10 : 16}), ${n})`,
      `${clues} = [f"${clue}" for a, b, n in zip(${v(order)}, ${v(order)}[1:], ${v(x)})]`,
      ...(shuffled ? [`r.shuffle(${clues})`] : []),
    ],
    sentences: [
      rng.pick([`{' '.join(${clues})}`, Array.from({ length: n }, (_, i) => `{${clues}[${i}]}`).join(" ")]),
      start > 0 ? say(rng, ["<f> begins at <s>.", "At <s> <f> happens.", "<f> is set off at time <s>."], { f: first, s: start }) : say(rng, ["<f> begins at 0.", "At time 0 <f> happens.", "Start with <f> at 0."], { f: first }),
      say(rng, ["When does <l> happen?", "At what time comes <l>?", "How many <U> until <l>, counted from 0?", "Give the time of <l>.", "Find the time at which <l> follows."], { l: last, U }),
    ],
    expression: start > 0 ? rng.pick([`${start} + sum(${v(x)})`, `sum(${v(x)}) + ${start}`]) : `sum(${v(x)})`,
    answer: "number",
    work: (s) => {
      const words = s.texts(order);
      let time = start;
      return `${words[0] ?? ""} ${start}, ${s.numbers(x).map((wait, i) => `${words[i + 1] ?? ""} ${sums(time, [wait])}${((time += wait), "")}`).join(", ")}`;
    },
    hints: ["Follow the chain from the first cause and add each delay.", "Start at the first event; each link adds its time."],
  };
}

/** A chain of dependencies with one part broken: how many still work, or which stop? */
function blocked(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const n = Math.min(level + 3, Math.max(4, Math.min(6, ground.left)));
  const things = ground.words(n);
  const [order, i] = rng.pick([["parts", "i"], ["line", "k"], ["links", "at"]] as const);
  const clue = say(rng, ["{b} needs {a}.", "{a} drives {b}.", "{a} feeds {b}.", "Without {a} there is no {b}.", "{b} depends on {a}.", "{b} runs only if {a} runs."]);
  const clues = rng.pick(["clues", "facts", "rules"]);
  const mode = rng.pick(level === 1 ? ["stop"] as const : ["stop", "run", "list"] as const);
  const asks = {
    stop: ["Which of them stop, in the order of the chain?", "List all that stop, the broken one first.", "Name the broken one and all that fail after it, in order."],
    run: ["Which still run, in the order of the chain?", "List those that go on, first to last.", "Name all that still work, in order."],
    list: ["Give two numbers: how many still run, how many stop.", "How many run and how many stop? Two numbers."],
  }[mode];
  const expression = mode === "stop" ? `${v(order)}[${v(i)}:]` : mode === "run" ? `${v(order)}[:${v(i)}]` : `[${v(i)}, ${n} - ${v(i)}]`;
  return {
    kind: "single",
    suffixes: ["Outage", "Failure", "Breakdown"],
    heads: things.slice(0, 2),
    draw: [
      ...(rng.chance(0.5) ? [`${v(order)} = r.sample(${wordList(things)}, ${n})`] : [`${v(order)} = ${wordList(things)}`, `r.shuffle(${v(order)})`]),
      `${v(i)} = r.randint(${mode === "run" ? 2 : 1}, ${n - (mode === "stop" ? 2 : 1)})`,
      `${clues} = [f"${clue}" for a, b in zip(${v(order)}, ${v(order)}[1:])]`,
      ...(level >= 3 ? [`r.shuffle(${clues})`] : []),
    ],
    sentences: [
      rng.pick([`{' '.join(${clues})}`, `{', '.join(sorted(${v(order)}))} form a chain. {' '.join(${clues})}`]),
      say(rng, ["Now <w> breaks.", "One day <w> fails.", "Then <w> is blocked.", "Suppose <w> stops.", "Someone removes <w>."], { w: `{${v(order)}[${v(i)}]}` }),
      say(rng, asks),
    ],
    expression,
    answer: "list",
    options: (s) => s.texts(order),
    work: (s) => {
      const words = s.texts(order);
      const cut = s.number(i);
      return `${words.join(" > ")}; ${words.slice(0, cut).join(" ")} run, ${words.slice(cut).join(" ")} stop${mode === "list" ? `: ${cut}, ${n - cut}` : ""}`;
    },
    hints: ["Write the chain in order; everything from the broken one on stops.", "A failure passes on to all that come later, never to those before."],
  };
}

/** One part is faulty; tests reveal it. Higher levels answer for a whole chain, which can be halved. */
function fault(context: Context): Draft {
  const { rng, ground, level } = context;
  const line = level >= 2 && rng.chance(0.6);
  const n = Math.min(level + 3, Math.max(4, Math.min(7, ground.left)));
  const things = ground.words(n);
  const turns = line ? 4 : n;
  const [test, fix] = rng.pick([["test", "fix"], ["check", "repair"], ["open", "blame"], ["probe", "replace"]] as const);
  const bad = rng.pick(["bad", "cause", "broken"]);
  const parts = rng.pick(["parts", "names", "items"]);
  const [good, ill] = line ? rng.pick([["signal", "no signal"], ["still fine", "already dead"], ["flow", "no flow"]] as const) : rng.pick([["fine", "faulty"], ["works", "broken"], ["clean", "worn"]] as const);
  const verdict = line ? `self.${parts}.index(words[1]) < self.${parts}.index(self.${bad})` : `words[1] != self.${bad}`;
  const known = (observation: string): boolean => observation.endsWith(`${good}.`) && !observation.endsWith(`${ill}.`);
  return {
    kind: "multi",
    maxTurns: turns,
    format: `Use ${test} X, then ${fix} X.`,
    suffixes: ["Fault", "Repair", "Diagnosis"],
    heads: things.slice(0, 2),
    draw: [
      ...(rng.chance(0.6) ? [`self.${parts} = r.sample(${wordList(things)}, ${n})`] : [`self.${parts} = ${wordList(things)}`, ...(rng.chance(0.5) ? [`r.shuffle(self.${parts})`] : [])]),
      `self.${bad} = r.choice(self.${parts})`,
    ],
    sentences: [
      line ? say(rng, ["A signal runs through <l> in this order and dies at one of them.", "In a chain stand <l>; one of them breaks the line for itself and all later.", "From first to last: <l>. One is broken and so is all after it."], { l: `{', '.join(self.${parts})}` }) : say(rng, ["One of these is faulty: <l>.", "Among <l> one causes the trouble.", "The trouble comes from one of <l>.", "Find the cause among <l>."], { l: `{', '.join(self.${parts})}` }),
      say(rng, ["Reply <t> X to look at one, <f> X to end.", "You may <t> X as often as turns allow, then <f> X.", "Moves: <t> X, <f> X.", "Say <t> X to inspect, <f> X for your answer."], { t: test, f: fix }).replaceAll("X", rng.pick(["X", "NAME"])),
      ...(rng.chance(0.5) ? [`You have ${turns} turns.`] : []),
    ],
    step: [
      "words = action.split()",
      rng.chance(0.5) ? `if len(words) != 2 or words[1] not in self.${parts}:` : `if len(words) != 2 or words[0] not in ["${test}", "${fix}"] or words[1] not in self.${parts}:`,
      `    return self.tell("Use ${test} or ${fix} and a name.")`,
      `if words[0] == "${fix}":`,
      `    return self.judge(words[1], self.${bad})`,
      ...(rng.chance(0.5) ? [`if ${verdict}:`, `    return self.tell(f"{words[1]}: ${good}.")`, `return self.tell(f"{words[1]}: ${ill}.")`] : [`state = "${good}" if ${verdict} else "${ill}"`, 'return self.tell(f"{words[1]}: {state}.")']),
    ],
    solution: [`return ["${fix} " + self.${bad}]`],
    player: (s) => {
      const list = s.texts(parts);
      let [a, b] = [0, list.length - 1];
      let probe = 0;
      const at = (k: number): string => list[k] ?? "";
      const next = (observation: string | undefined): { work: string; action: string } => {
        if (observation !== undefined) {
          const fine = known(observation);
          if (line) [a, b] = fine ? [probe + 1, b] : [a, probe];
          else [a, b] = fine ? [probe + 1, b] : [probe, probe];
        }
        if (a >= b) return { work: `${at(b)} is left.`, action: `${fix} ${at(b)}` };
        probe = line ? Math.floor((a + b) / 2) : a;
        return { work: line ? `${at(a)} to ${at(b)}, middle ${at(probe)}.` : `${observation === undefined ? "first" : "next"} ${at(probe)}.`, action: `${test} ${at(probe)}` };
      };
      return next;
    },
    guess: (s, random) => `${random.chance(0.6) ? test : fix} ${random.pick(s.texts(parts))}`,
    hints: line ? ["Look at the middle one: the fault is either there or before, or later.", "Halve the chain with every look."] : ["Look at them one after another, never twice; name the one that fails.", "Go through the list in order. If all but one are good, it is the last."],
  };
}

/** Each lever adds its own hidden amount to a gauge; find the one with a given effect. */
function levers(context: Context): Draft {
  const { rng, ground, level } = context;
  const n = Math.min(level + 3, Math.max(4, Math.min(6, ground.left - 1)));
  const P = ground.word();
  const things = ground.words(n);
  const [press, reply] = rng.pick([["press", "answer"], ["pull", "say"], ["turn", "name"], ["try", "choose"]] as const);
  const [gauge, x, names] = rng.pick([["gauge", "effect", "names"], ["level", "adds", "parts"], ["meter", "power", "items"]] as const);
  const relative = level === 1;
  return {
    kind: "multi",
    maxTurns: n + 1,
    format: `Use ${press} X, then ${reply} X.`,
    suffixes: ["Levers", "Effects", "Causes"],
    heads: [P, ...things.slice(0, 1)],
    draw: [
      `${names} = ${wordList(things)}`,
      `self.${x} = dict(zip(${names}, r.sample(range(1, ${level <= 2 ? 10 : 20}), ${n})))`,
      `self.cause = r.choice(${names})`,
      ...(relative ? [] : [`self.${gauge} = ${rng.chance(0.5) ? "0" : "r.randint(0, 9)"}`]),
    ],
    sentences: [
      say(rng, ["The <P> obeys <l>.", "<l> act on the <P>.", "Each of <l> changes the <P>.", "On the <P> there are <l>."], { P, l: things.join(", ") }),
      ...(relative ? [] : [`It stands at {self.${gauge}}.`]),
      say(rng, ["Which one adds {<c>}?", "Find the one that adds {<c>}.", "One of them raises it by {<c>}. Which?"], { c: `self.${x}[self.cause]` }),
      say(rng, ["Reply <p> X to see its effect, <r> X to end.", "Moves: <p> X, <r> X.", "You may <p> X, then <r> X."], { p: press, r: reply }),
    ],
    step: [
      "words = action.split()",
      `if len(words) != 2 or words[1] not in self.${x}:`,
      `    return self.tell("Use ${press} or ${reply} and a name.")`,
      `if words[0] == "${reply}":`,
      rng.chance(0.5) ? "    return self.judge(words[1], self.cause)" : `    return self.finish(words[1] == self.cause, "Done.")`,
      ...(relative ? [rng.chance(0.5) ? `return self.tell(f"{words[1]} adds {self.${x}[words[1]]}.")` : `return self.tell(f"It rises by {self.${x}[words[1]]}.")`] : [`self.${gauge} += self.${x}[words[1]]`, rng.chance(0.5) ? `return self.tell(f"Now {self.${gauge}}.")` : `return self.tell(f"The ${P} shows {self.${gauge}}.")`]),
    ],
    solution: [`return ["${reply} " + self.cause]`],
    player: (s) => {
      const goal = new Map(s.list(x) as [string, number][]).get(s.text("cause")) ?? 0;
      let now = relative ? 0 : s.number(gauge);
      let k = -1;
      return (observation) => {
        const read = Number(/-?\d+/.exec(observation ?? "")?.[0]);
        const rise = relative ? read : read - now;
        const shown = relative ? String(read) : `${read}-${now}=${rise}`;
        if (observation !== undefined && rise === goal) return { work: `${shown}, yes.`, action: `${reply} ${things[k] ?? ""}` };
        if (observation !== undefined && !relative) now = read;
        k++;
        if (k === n - 1) return { work: `${shown}, no. ${things[k] ?? ""} is left.`, action: `${reply} ${things[k] ?? ""}` };
        return { work: observation === undefined ? `first ${things[k] ?? ""}.` : `${shown}, no. next ${things[k] ?? ""}.`, action: `${press} ${things[k] ?? ""}` };
      };
    },
    guess: (_, random) => `${random.chance(0.6) ? press : reply} ${random.pick(things)}`,
    hints: [relative ? "Work through the list in order until one shows the right number." : "After each move subtract the old reading from the new one.", "Look at each in turn, none twice, then name the one that fits."],
  };
}

export const causal: readonly Family[] = [
  { name: "delays", skill: "Causal Inference", draft: delays },
  { name: "blocked", skill: "Causal Inference", draft: blocked },
  { name: "fault", skill: "Causal Inference", draft: fault },
  { name: "levers", skill: "Causal Inference", draft: levers },
];
