import type { Rng } from "../../../src/core/seed.ts";
import type { Draft, MultiDraft, SingleDraft } from "./draft.ts";

const indent = (lines: readonly string[], depth: number): string[] => lines.map((line) => " ".repeat(4 * depth) + line);

const quoted = (text: string): string => (text.includes("{") ? `f"${text}"` : `"${text}"`);

/** Statements that show the first observation: most often in one piece, else in one of several idioms. */
function showLines(rng: Rng, sentences: readonly string[]): string[] {
  const whole = sentences.join(" ");
  const cut = rng.int(1, Math.max(1, sentences.length - 1));
  const parts = [sentences.slice(0, cut).join(" "), sentences.slice(cut).join(" ")].filter((part) => part !== "");
  const name = rng.pick(["text", "story", "scene"]);
  switch (rng.int(0, 11)) {
    case 0:
      return [`${name} = ${quoted(whole)}`, `return self.show(${name})`];
    case 1:
      return parts[1] === undefined ? [`return self.show(${quoted(whole)})`] : [`${name} = ${quoted(parts[0] ?? "")}`, `return self.show(${name} + ${quoted(` ${parts[1]}`)})`];
    case 2:
      return parts[1] === undefined ? [`return self.show(${quoted(whole)})`] : [`${name} = ${quoted(`${parts[0] ?? ""} `)}`, `${name} += ${quoted(parts[1])}`, `return self.show(${name})`];
    case 3:
      return [`${name} = [${sentences.map(quoted).join(", ")}]`, `return self.show(" ".join(${name}))`];
    default:
      return [`return self.show(${quoted(whole)})`];
  }
}

/** How a one-turn program keeps its answer; `local` forces the forms that work it out inside `reset`. */
function judgeLines(rng: Rng, draft: SingleDraft, local: boolean): { reset: readonly string[]; rest: readonly string[] } {
  const prepare = draft.prepare ?? [];
  const asAction = (expression: string): string => (draft.answer === "list" ? `[" ".join(str(n) for n in ${expression})]` : `[${expression}]`);
  const style = local ? 0 : prepare.length > 0 ? rng.pick([0, 1, 1]) : rng.pick([0, 0, 0, 0, 1, 1, 2, 3]);
  const goal = rng.pick(["goal", "goal", "goal", "target", "result"]);
  if (style === 0) {
    const rest = ["def step(self, action):", `    return self.judge(action, self.${goal})`, "def solution(self):", `    return ${asAction(`self.${goal}`)}`];
    return { reset: [...prepare, `self.${goal} = ${draft.expression}`], rest };
  }
  if (style === 1) {
    const body = rng.chance(0.1) ? [`${goal} = ${draft.expression}`, `return ${goal}`] : [`return ${draft.expression}`];
    const name = rng.pick(["compute", "compute", "compute", "work", "value"]);
    const rest = [`def ${name}(self):`, ...indent([...prepare, ...body], 1), "def step(self, action):", `    return self.judge(action, self.${name}())`];
    return { reset: [], rest: [...rest, "def solution(self):", `    return ${asAction(`self.${name}()`)}`] };
  }
  if (style === 2) {
    const rest = ["def step(self, action):", `    ${goal} = ${draft.expression}`, `    return self.judge(action, ${goal})`, "def solution(self):"];
    return { reset: [], rest: [...rest, `    return ${asAction(draft.expression)}`] };
  }
  const rest = ["def step(self, action):", `    return self.judge(action, ${draft.expression})`, "def solution(self):", `    return ${asAction(draft.expression)}`];
  return { reset: [], rest };
}

function multiRest(draft: MultiDraft): string[] {
  return ["def step(self, action):", ...indent(draft.step, 1), "def solution(self):", ...indent(draft.solution, 1)];
}

/** Source of a program. `local` says that the draft's values are locals of `reset`. */
export function assemble(rng: Rng, draft: Draft, local: boolean): string {
  const name = rng.pick(draft.suffixes);
  const parts = draft.kind === "single" ? judgeLines(rng, draft, local) : { reset: [], rest: multiRest(draft) };
  const limit = draft.kind === "multi" ? [`max_turns = ${draft.maxTurns}`] : rng.chance(0.05) ? ["max_turns = 1"] : [];
  return [
    `class ${name}(TextGame):`,
    ...indent([...limit, "def reset(self, seed=None):"], 1),
    ...indent(["r = self.start(seed)", ...draft.draw, ...parts.reset, ...showLines(rng, draft.sentences)], 2),
    ...indent(parts.rest, 1),
  ].join("\n");
}
