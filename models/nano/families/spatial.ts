import type { Context, Draft, Family } from "./draft.ts";
import { drawNumbers, names, say, wordList } from "./draft.ts";
import { chain } from "./mathematical.ts";

/** A walk on a line or grid; directions are fixed in the program, distances are drawn. */
function walk(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const [P = "", Q = ""] = ground.words(2);
  const U = ground.unit("steps");
  const flat = rng.chance(level === 1 ? 0.6 : 0.3);
  const axes = flat ? [rng.pick([["right", "left"], ["up", "down"], ["east", "west"]] as const)] : [rng.pick([["east", "west"], ["right", "left"]] as const), rng.pick([["north", "south"], ["up", "down"]] as const)];
  const n = Math.min(level + 1, 5);
  const ids = names(rng, n);
  const moves = ids.map((id, i) => ({ id, axis: flat ? 0 : i < 2 ? i : rng.int(0, 1), sign: i === 0 || rng.chance(0.55) ? 1 : -1 }));
  const origin = axes.map(() => (rng.chance(0.5) ? 0 : ground.number(1, 9)));
  const along = (axis: number): string => moves.filter((m) => m.axis === axis).reduce((text, m) => (text === "" ? v(m.id) : `${text} ${m.sign === 1 ? "+" : "-"} ${v(m.id)}`), "");
  // The first move on an axis may point backwards.
  const signed = (axis: number): string => {
    const first = moves.find((m) => m.axis === axis);
    const base = origin[axis] ?? 0;
    const rest = along(axis);
    if (first === undefined) return String(base);
    return base === 0 ? (first.sign === 1 ? rest : `-${rest}`) : `${base} ${first.sign === 1 ? "+" : "-"} ${rest}`;
  };
  const start = flat ? say(rng, ["The <P> starts at <x> on a line.", "A <P> stands at place <x>.", "On a line the <P> is at <x>.", "The <P> begins at mark <x>."], { P, x: origin[0] ?? 0 }) : say(rng, ["The <P> starts at <x> <y>.", "A <P> stands on a grid at <x> <y>.", "From the <Q> at <x> <y> the <P> leaves.", "Begin at <x> <y>, next to the <P>."], { P, Q, x: origin[0] ?? 0, y: origin[1] ?? 0 });
  const verb = rng.pick([["It goes <n> <d>.", "Then it moves <n> <d>.", "Now <n> <d>."], ["Go <n> <U> <d>.", "Then <n> <U> <d>.", "Walk <n> <U> <d>."], ["Move <d> <n>.", "Next, <d> <n>."]]);
  const steps = moves.map((m, i) => say(rng, i === 0 ? verb.slice(0, 1) : verb.slice(1), { n: `{${v(m.id)}}`, d: axes[m.axis]?.[m.sign === 1 ? 0 : 1] ?? "", U }));
  const [across = ""] = axes.map(([plus]) => plus);
  const aside = flat ? say(rng, ["<d> counts up.", "Going <d> adds.", "Numbers grow to the <d>.", ""], { d: across }) : say(rng, ["<d> adds to the first number, <e> to the second.", "The first number grows <d>, the second <e>.", ""], { d: across, e: axes[1]?.[0] ?? "" });
  const ask = flat ? say(rng, ["Where is it now?", "Which place is reached?", "Give the final place.", "At which number does it end?"]) : say(rng, ["Where does it end? Give two numbers.", "Reply with the final place, two numbers.", "Which x y is reached?", "State both numbers of the end point."]);
  return {
    kind: "single",
    suffixes: ["Walk", "Path", "Route"],
    heads: [P, Q],
    draw: drawNumbers(context, ids, 1, level <= 2 ? 6 : 9),
    sentences: [start, ...steps, aside, ask].filter((text) => text !== ""),
    expression: flat ? signed(0) : `[${signed(0)}, ${signed(1)}]`,
    answer: flat ? "number" : "list",
    work: (s) => axes.map((_, axis) => chain(origin[axis] ?? 0, moves.filter((m) => m.axis === axis).map((m) => m.sign * s.number(m.id)))).filter((text) => text !== "").join("; "),
    hints: flat ? ["Add the moves one way and subtract those the other way, in turn."] : ["Treat the two directions apart: add or subtract along each.", "Sum up the first number, then the second. Reply with two numbers."],
  };
}

function lineup(context: Context): Draft {
  const { rng, ground, level, v } = context;
  const n = Math.min(level + 4, Math.max(5, Math.min(7, ground.left)));
  const things = ground.words(n);
  const row = rng.pick(["row", "line", "shelf"]);
  const [i, d] = rng.pick([["i", "d"], ["at", "by"], ["k", "m"]] as const);
  const right = rng.chance(0.5);
  const mode = level === 1 ? "hop" : rng.pick(["hop", "hop", "place", "back"] as const);
  const hop = mode === "back" ? `${v(row)}[${v(i)}]` : `${v(row)}[${v(i)} ${right ? "+" : "-"} ${v(d)}]`;
  const reach = Math.min(level + 1, n - 2);
  const index = right ? `r.randint(0, ${n - 1 - reach})` : `r.randint(${reach}, ${n - 1})`;
  const draw = [
    ...(rng.chance(0.5) ? [`${v(row)} = r.sample(${wordList(things)}, ${n})`] : [`${v(row)} = ${wordList(things)}`, `r.shuffle(${v(row)})`]),
    ...(rng.chance(0.5) ? [`${v(i)} = ${index}`, `${v(d)} = r.randint(1, ${reach})`] : [`${v(i)}, ${v(d)} = ${index}, r.randint(1, ${reach})`]),
  ];
  const side = right ? "right" : "left";
  const ask = {
    hop: ["What is {<d>} to the <s> of {<w>}?", "Start at {<w>} and go {<d>} <s>: what is there?", "Name the one {<d>} places <s> of {<w>}.", "From {<w>} count {<d>} to the <s>. Which is it?", "Which thing stands {<d>} <s> of {<w>}?"],
    place: ["Counting from the left, at which place is what stands {<d>} <s> of {<w>}?", "Go {<d>} <s> from {<w>}. Which place from the left is that?"],
    back: ["Go {<d>} <s> from {<w>}, then {<d>} back. What is there?", "Which one is reached from {<w>} by {<d>} <s> and {<d>} back?"],
  }[mode];
  return {
    kind: "single",
    suffixes: ["Lineup", "Row", "Shelf"],
    heads: things.slice(0, 2),
    draw,
    sentences: [
      say(rng, ["From left to right: <l>.", "In a row stand <l>, left to right.", "The row reads <l>.", "Left to right there are <l>.", "A shelf holds <l>, from the left.", "On the line, the leftmost first: <l>."], { l: `{', '.join(${v(row)})}` }),
      say(rng, ask, { d: v(d), s: side, w: `${v(row)}[${v(i)}]` }),
      ...(mode === "place" ? ["Reply with a number."] : rng.chance(0.3) ? ["Reply with one word."] : []),
    ],
    expression: mode === "place" ? `${v(i)} ${right ? "+" : "-"} ${v(d)} + 1` : hop,
    answer: mode === "place" ? "number" : "word",
    options: (s) => s.texts(row),
    work: (s) => {
      const line = s.texts(row);
      const [from, by] = [s.number(i), s.number(d)];
      const trail = Array.from({ length: by + 1 }, (_, k) => line[from + (right ? k : -k)] ?? "");
      if (mode === "back") return [...trail, ...trail.slice(0, -1).reverse()].join(" > ");
      return mode === "place" ? `${line.slice(0, from + (right ? by : -by) + 1).map((word, k) => `${k + 1} ${word}`).join(", ")}, place ${from + (right ? by : -by) + 1}` : trail.join(" > ");
    },
    hints: ["Find the named thing, then count one place at a time.", "Step along the row thing by thing. The first step is the neighbour."],
  };
}

function navigate(context: Context): Draft {
  const { rng, ground, level } = context;
  const [P = "", Q = ""] = ground.words(2);
  const [plus, minus] = rng.pick([["right", "left"], ["east", "west"]] as const);
  const [up, down] = rng.pick([["up", "down"], ["north", "south"]] as const);
  const reach = Math.min(level + 1, 4);
  const base = rng.chance(0.4) ? [0, 0] : [ground.number(reach, 20), ground.number(reach, 20)];
  const far = (at: number | undefined): string => rng.pick([`${at ?? 0} + r.randint(1, ${reach}) * r.choice([-1, 1])`, `${at ?? 0} + r.choice([${[-reach, -1, 1, reach].join(", ")}])`]);
  const told = say(rng, ["You are at {self.x} {self.y}.", "Now at {self.x} {self.y}.", "The <P> is at {self.x} {self.y}.", "Place {self.x} {self.y}."], { P });
  const verb = `${plus}, ${minus}, ${up} or ${down}`;
  const arrived = rng.pick(["if self.x == self.u and self.y == self.w:", "if [self.x, self.y] == [self.u, self.w]:", "if abs(self.x - self.u) + abs(self.y - self.w) == 0:"]);
  const where = (observation: string): number[] => (observation.match(/-?\d+/g) ?? []).map(Number);
  return {
    kind: "multi",
    maxTurns: 2 * reach + 1,
    format: "Reply with one direction.",
    suffixes: ["Trip", "Steering", "Track"],
    heads: rng.chance(0.5) ? [P] : [Q],
    draw: [`self.x, self.y = ${base.join(", ")}`, ...rng.pick([[`self.u = ${far(base[0])}`, `self.w = ${far(base[1])}`], [`self.u, self.w = ${far(base[0])}, ${far(base[1])}`]])],
    sentences: [
      say(rng, ["The <P> is at {self.x} {self.y} and the <Q> at {self.u} {self.w}.", "Bring the <P> from {self.x} {self.y} to the <Q> at {self.u} {self.w}.", "From {self.x} {self.y} reach {self.u} {self.w}, where the <Q> is.", "The <Q> waits at {self.u} {self.w}; the <P> stands at {self.x} {self.y}."], { P, Q }),
      say(rng, ["<p> raises the first number, <u> the second.", "<p> and <m> change the first number.", "<p> and <u> add 1 to the first or second number."], { p: plus, m: minus, u: up, d: down }),
      say(rng, ["Reply <v>.", "Moves: <v>."], { v: verb }),
    ],
    step: [
      ...stepLines(rng, { plus, minus, up, down }, verb),
      arrived,
      '    return self.finish(True, "Arrived.")',
      `return self.tell(f"${told}")`,
    ],
    solution: ["a, b = self.u - self.x, self.w - self.y", rng.pick([`return ["${plus}"] * a + ["${minus}"] * -a + ["${up}"] * b + ["${down}"] * -b`, `return ["${plus}" if a > 0 else "${minus}"] * abs(a) + ["${up}" if b > 0 else "${down}"] * abs(b)`])],
    player: (s) => {
      const goal = [s.number("u"), s.number("w")];
      const first = [s.number("x"), s.number("y")];
      return (observation) => {
        const now = observation === undefined ? first : where(observation);
        const axis = now[0] === goal[0] ? 1 : 0;
        const [a, b] = [now[axis] ?? 0, goal[axis] ?? 0];
        const action = axis === 0 ? (b > a ? plus : minus) : b > a ? up : down;
        return { work: `${a}${b > a ? "<" : ">"}${b}.`, action };
      };
    },
    guess: (_, random) => random.pick([plus, minus, up, down]),
    hints: ["Settle the first number, then the second, by comparing with the goal.", "Every move must bring you closer.", "Compare your place with the goal and move along one number at a time."],
  };
}

/** Statements of a step on the grid: by a table of moves, or by cases. */
function stepLines(rng: Context["rng"], words: { readonly plus: string; readonly minus: string; readonly up: string; readonly down: string }, verb: string): string[] {
  const { plus, minus, up, down } = words;
  if (rng.chance(0.5)) {
    const moves = `moves = {"${plus}": [1, 0], "${minus}": [-1, 0], "${up}": [0, 1], "${down}": [0, -1]}`;
    const apply = rng.chance(0.5) ? ["self.x += moves[action][0]", "self.y += moves[action][1]"] : ["a, b = moves[action]", "self.x, self.y = self.x + a, self.y + b"];
    return [moves, "if action not in moves:", `    return self.tell("Use ${verb}.")`, ...apply];
  }
  const cases: [string, string][] = [[plus, "self.x += 1"], [minus, "self.x -= 1"], [up, "self.y += 1"], [down, "self.y -= 1"]];
  return [...cases.flatMap(([word, effect], i) => [`${i === 0 ? "if" : "elif"} action == "${word}":`, `    ${effect}`]), "else:", `    return self.tell("Use ${verb}.")`];
}

function seek(context: Context): Draft {
  const { rng, ground, level } = context;
  const [P = "", Q = ""] = ground.words(2);
  const high = level === 1 ? ground.number(8, 12) : level === 2 ? ground.number(10, 20) : ground.number(20, 60);
  const turns = level === 1 ? 3 : 2;
  const spot = rng.pick(["spot", "place", "cell"]);
  const told = say(rng, ["{gap} away.", "Off by {gap}.", "Distance {gap}.", "The <P> is {gap} <U> away."], { P, U: ground.unit("cells") });
  return {
    kind: "multi",
    maxTurns: turns,
    format: "Reply with one number.",
    suffixes: ["Search", "Hunt", "Seek"],
    heads: [P, Q],
    draw: [`self.${spot} = r.randint(2, ${high})`],
    sentences: [
      say(rng, ["A <P> is hidden in one of <h> cells in a row, numbered 1 to <h>.", "Somewhere from 1 to <h> lies the <P>.", "The <Q> has places 1 to <h>; one hides the <P>.", "Find the <P>: it is at a number from 1 to <h>."], { P, Q, h: high }),
      say(rng, ["After each miss you hear how far away it is.", "A wrong place tells the distance.", "Every miss shows how far off you are."]),
      say(rng, ["You have <t> tries.", "Reply with a number, <t> tries.", "Only <t> turns."], { t: turns }),
    ],
    step: [
      "try:",
      "    n = int(action)",
      rng.chance(0.5) ? "except ValueError:" : "except Exception:",
      `    return self.tell("Reply with a number.")`,
      rng.chance(0.5) ? `gap = abs(n - self.${spot})` : `gap = max(n, self.${spot}) - min(n, self.${spot})`,
      rng.chance(0.5) ? "if gap == 0:" : `if n == self.${spot}:`,
      '    return self.finish(True, "Found.")',
      `return self.tell(f"${told}")`,
    ],
    solution: [`return [self.${spot}]`],
    player: () => {
      return (observation) => {
        if (observation === undefined) return { work: "try the end 1.", action: "1" };
        const gap = Number(/\d+/.exec(observation)?.[0]);
        return { work: `1+${gap}=${1 + gap}.`, action: String(1 + gap) };
      };
    },
    guess: (_, random) => String(random.int(1, high)),
    hints: ["Try the first place; then the distance tells where it is.", "Probe an end of the row: from there the distance leaves only one place."],
  };
}

export const spatial: readonly Family[] = [
  { name: "walk", skill: "Spatial Reasoning", draft: walk },
  { name: "lineup", skill: "Spatial Reasoning", draft: lineup },
  { name: "navigate", skill: "Spatial Reasoning", draft: navigate },
  { name: "seek", skill: "Spatial Reasoning", draft: seek },
];
