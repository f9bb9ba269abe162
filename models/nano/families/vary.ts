import type { Context, Draft, MultiDraft } from "./draft.ts";
import { say } from "./draft.ts";

/** What `counted` adds to observations; players do not read it. */
const countPattern = / (?:Tries so far: \d+|\d+ turns left|Turn \d+)\.$/;

/** An observation without the count of turns. */
export function withoutCount(observation: string): string {
  return observation.replace(countPattern, "");
}

/** Small changes that fit every family: another name per seed, remarks, a count of turns, tidied actions. */
export function varied(context: Context, draft: Draft): Draft {
  const { rng } = context;
  let out = draft;
  if (rng.chance(0.12)) out = renamedBySeed(context, out);
  if (rng.chance(0.12)) out = withSentence(context, out, say(rng, ["The <w> showed {r.randint(2, 30)}.", "A <w> counted {r.randint(2, 30)} <u>.", "{r.randint(2, 30)} <u> lay by the <w>.", "Its <w> is {r.choice([5, 10, 20])} <u> old."], { w: context.ground.word(), u: context.ground.unit("units") }));
  if (rng.chance(0.12)) out = withSentence(context, out, say(rng, ["A <w> stood nearby.", "The <w> does not matter.", "Nobody minds the <w>.", "All this is close to the <w>."], { w: context.ground.word() }));
  if (out.kind === "multi") {
    if (rng.chance(0.15)) out = counted(context, out);
    if (rng.chance(0.2)) out = { ...out, step: [rng.pick(["action = action.strip()", "action = action.lower()", "action = action.strip().lower()"]), ...out.step] };
    if (rng.chance(0.1)) out = namedSolution(out, rng.pick(["moves", "plan", "answer"]));
  }
  return grounded(context, out);
}

/** Adds a scene until at least three words of the passage stand in the text. */
function grounded(context: Context, draft: Draft): Draft {
  const code = [...draft.sentences, ...draft.draw].join(" ");
  const present = context.ground.handed.filter((word) => new RegExp(`\\b${word}\\b`).test(code)).length;
  if (present >= 3) return draft;
  const [a, b] = context.ground.words(2);
  const scene = say(context.rng, ["By the <a> and the <b> is a game.", "This is about a <a> and a <b>.", "We are near the <a>, close to the <b>.", "At the <a> someone has a <b>.", "Think of the <a> and its <b>.", "Between <a> and <b> there is a task."], { a: a ?? "", b: b ?? "" });
  return { ...draft, sentences: [scene, ...draft.sentences] };
}

function withSentence({ rng }: Context, draft: Draft, sentence: string): Draft {
  const sentences = [...draft.sentences];
  sentences.splice(rng.int(0, Math.max(0, sentences.length - 1)), 0, sentence);
  return { ...draft, sentences };
}

/** The main thing is one of two or three words, chosen by the seed. */
function renamedBySeed({ rng, ground }: Context, draft: Draft): Draft {
  const [head = ""] = draft.heads;
  const code = [...draft.draw, ...(draft.kind === "multi" ? [...draft.step, ...draft.solution] : [draft.expression, ...(draft.prepare ?? [])])].join("\n");
  const word = new RegExp(`\\b${head}\\b`, "g");
  if (word.test(code) || !draft.sentences.some((sentence) => new RegExp(`\\b${head}\\b`).test(sentence.replace(/\{[^}]*\}/g, "")))) return draft;
  const name = rng.pick(["who", "thing", "place", "actor"]);
  const others = ground.words(rng.int(1, 2));
  const line = `${name} = r.choice([${[head, ...others].map((w) => `"${w}"`).join(", ")}])`;
  const sentences = draft.sentences.map((sentence) => sentence.replace(/\{[^}]*\}|[a-z]+/g, (piece) => (piece === head ? `{${name}}` : piece)));
  return { ...draft, draw: rng.chance(0.5) ? [line, ...draft.draw] : [...draft.draw, line], sentences };
}

/** Counts turns and says the count after each observation. */
function counted({ rng }: Context, draft: MultiDraft): MultiDraft {
  const down = rng.chance(0.4);
  const name = down ? "self.left" : "self.tries";
  const text = down ? ` {${name}} turns left.` : rng.pick([` Tries so far: {${name}}.`, ` Turn {${name}}.`]);
  const step = draft.step.map((line) => {
    const match = /^(.*return self\.tell\()(.*)\)$/.exec(line);
    const [, before = "", told = ""] = match ?? [];
    if (match === null || /^"(?:Use|Reply)/.test(told)) return line;
    if (/^f?"[^"]*"$/.test(told)) return `${before}f${told.replace(/^f/, "").slice(0, -1)}${text}")`;
    return `${before}${told.includes(" if ") ? `(${told})` : told} + f"${text}")`;
  });
  return { ...draft, draw: [...draft.draw, `${name} = ${down ? draft.maxTurns : 0}`], step: [down ? `${name} -= 1` : `${name} += 1`, ...step] };
}

function namedSolution(draft: MultiDraft, name: string): MultiDraft {
  const solution = draft.solution.flatMap((line) => (line.startsWith("return ") ? [`${name} = ${line.slice(7)}`, `return ${name}`] : [line]));
  return { ...draft, solution };
}
