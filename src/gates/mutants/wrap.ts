import type { Program } from "../../core/environment.ts";
import { codeMask, codeMatches } from "../code-mask.ts";

/** Lines of code put around the methods of a program by a class that derives from its entry class. */
export interface Wrapper {
  /** Before the class: imports and helpers. */
  readonly prelude?: readonly string[];
  /** Members of the class. */
  readonly members?: readonly string[];
  /** The seed that the program is reset with. Default: `seed`. */
  readonly seed?: string;
  /** Before the program's reset. */
  readonly beforeReset?: readonly string[];
  /** After the program's reset; may change `text`. */
  readonly afterReset?: readonly string[];
  /** Before the program's step; may return. */
  readonly beforeStep?: readonly string[];
  /** After the program's step; may change `text`, `reward`, `terminated`, `truncated`. */
  readonly afterStep?: readonly string[];
  /** After the program's solution(); may change `actions`, a list. */
  readonly solution?: readonly string[];
}

/** Name of the class that a wrapper adds. */
export const wrapperClass = "MutantEnv";

/**
 * The program with one more class, its new entry, that plays it and does what the wrapper says on the way. The class has
 * `turn_` (steps since reset), `calls_` (steps since construction) and `oracle_()` (the program's own solution, a list).
 * Undefined when the program has no class to derive from, or no solution() although the wrapper changes it.
 */
export function wrapped(program: Program, wrapper: Wrapper): string | undefined {
  const base = entryClass(program);
  if (base === undefined || (usesOracle(wrapper) && !hasSolution(program))) return undefined;
  return program.language === "python" ? wrappedPython(program.source, base, wrapper) : wrappedTypescript(program.source, base, wrapper);
}

/** True when the code defines solution(). */
export function hasSolution({ source, language }: Program): boolean {
  return codeMatches(source, language, language === "python" ? /\bdef\s+solution\s*\(/g : /\bsolution\s*\(\s*\)/g).length > 0;
}

function usesOracle(wrapper: Wrapper): boolean {
  return wrapper.solution !== undefined || Object.values(wrapper).flat().some((line) => String(line).includes("oracle_()"));
}

/** Name of the class that the sandbox will take as the entry. */
function entryClass({ source, language }: Program): string | undefined {
  const mask = codeMask(source, language);
  if (language === "typescript") return /\bexport\s+default\s+class\s+(\w+)/.exec(mask)?.[1];
  const names = [...mask.matchAll(/^class\s+(\w+)/gm)].map((match) => match[1] ?? "");
  const playing = names.filter((name) => /^\s+def\s+(?:step|reset)\s*\(/m.test(classBody(mask, name)));
  const leaves = playing.filter((name) => !names.some((other) => other !== name && new RegExp(`\\b${name}\\s*[(),]`).test(classBody(mask, other))));
  return leaves.findLast((name) => name.endsWith("Env")) ?? leaves.at(-1);
}

function classBody(mask: string, name: string): string {
  const rest = mask.slice(mask.search(new RegExp(`^class\\s+${name}\\b`, "m")));
  const end = rest.search(/\n[^\s#)\]}]/);
  return end < 0 ? rest : rest.slice(0, end);
}

function wrappedPython(source: string, base: string, wrapper: Wrapper): string {
  const { prelude = [], members = [], seed = "seed", beforeReset = [], afterReset = [], beforeStep = [], afterStep = [], solution } = wrapper;
  return joined([
    source.trimEnd(),
    "",
    "",
    ...prelude,
    `class ${wrapperClass}(${base}):`,
    ...indented(["turn_ = 0", "calls_ = 0", ...members], 4),
    "    def reset(self, seed=None):",
    ...indented(["self.turn_ = 0", ...beforeReset, `made = super().reset(${seed})`, "text = made[0] if isinstance(made, tuple) else made", ...afterReset, "return text, {}"], 8),
    "    def step(self, action):",
    ...indented(["self.turn_ += 1", "self.calls_ += 1", ...beforeStep, "text, reward, terminated, truncated, info = super().step(action)", ...afterStep, "return text, reward, terminated, truncated, info"], 8),
    ...(usesOracle(wrapper) ? ["    def oracle_(self):", ...indented(["actions = super().solution()", "return [str(a) for a in actions] if isinstance(actions, (list, tuple)) else [str(actions)]"], 8)] : []),
    ...(solution === undefined ? [] : ["    def solution(self):", ...indented(["actions = self.oracle_()", ...solution, "return actions"], 8)]),
  ]);
}

function wrappedTypescript(source: string, base: string, wrapper: Wrapper): string {
  const { prelude = [], members = [], seed = "seed", beforeReset = [], afterReset = [], beforeStep = [], afterStep = [], solution } = wrapper;
  const [exported] = codeMatches(source, "typescript", /\bexport\s+default\s+(?=class\b)/g);
  const plain = exported === undefined ? source : source.slice(0, exported.index) + source.slice(exported.index + exported.text.length);
  return joined([
    plain.trimEnd(),
    "",
    ...prelude,
    `export default class ${wrapperClass} extends ${base} {`,
    ...indented(["turn_ = 0;", "calls_ = 0;", ...members], 2),
    "  reset(seed) {",
    ...indented(["this.turn_ = 0;", ...beforeReset, `const made = super.reset(${seed});`, 'let text = typeof made === "string" ? made : made.observation;', ...afterReset, "return { observation: text };"], 4),
    "  }",
    "  step(action) {",
    ...indented(["this.turn_++;", "this.calls_++;", ...beforeStep, "let { observation: text, reward, terminated, truncated, info } = super.step(action);", ...afterStep, "return { observation: text, reward, terminated, truncated, info };"], 4),
    "  }",
    ...(usesOracle(wrapper) ? ["  oracle_() {", "    return [super.solution()].flat().map(String);", "  }"] : []),
    ...(solution === undefined ? [] : ["  solution() {", ...indented(["let actions = this.oracle_();", ...solution, "return actions;"], 4), "  }"]),
    "}",
  ]);
}

function indented(lines: readonly string[], width: number): string[] {
  return lines.map((line) => " ".repeat(width) + line);
}

function joined(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}
