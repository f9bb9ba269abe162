import { healthySource } from "../fixtures.ts";
import { healthyTypeScript } from "../typescript-fixtures.ts";

/** Parts of a program's class, as statements of its language. */
export interface Parts {
  /** Body of `reset`; default: it shows `ready`. */
  readonly reset?: string;
  /** Body of `step`; default: a step that does nothing. */
  readonly step?: string;
  /** Body of `solution`; absent: there is none. */
  readonly solution?: string;
}

/** How the programs of the contract's cases are written in one language. */
export interface Dialect {
  readonly language: "python" | "typescript";
  /** A guessing game of three turns with a solution. */
  readonly guess: string;
  /** State variables of `guess`. */
  readonly guessVariables: number;
  /** A program whose observations show its seed, all actions, private chance and whatever its instances share. */
  readonly healthy: string;
  /** A class of the given methods. */
  readonly shaped: (parts: Parts) => string;
  /** A statement that returns a step. */
  readonly returns: (observation: string, fields?: { readonly reward?: string; readonly terminated?: string; readonly truncated?: string; readonly info?: string }) => string;
  /** `reset` that fails for odd seeds with the word `odd`. */
  readonly failsWhenOdd: string;
  /** An expression of a character repeated. */
  readonly repeat: (character: string, count: number) => string;
  readonly true: string;
  /** A statement that loops as often as the action says. */
  readonly loop: string;
  /** Loops around which `fuelPerCall` of 2,000 (Python 200) ends: first, last, stride. */
  readonly fuel: { readonly perCall: number; readonly from: number; readonly to: number; readonly by: number };
  /** Rewards that are refused, with what the message names. */
  readonly badRewards: readonly (readonly [expression: string, named: string])[];
  /** Steps that are refused, with what the message names. */
  readonly badSteps: readonly (readonly [statement: string, named: string])[];
  /** Bodies of `reset` that are refused. */
  readonly badResets: readonly string[];
  /** Bodies of `solution`, and what becomes of them. */
  readonly solutions: readonly (readonly [body: string, expected: readonly string[]])[];
  readonly badSolutions: readonly string[];
}

const python: Dialect = {
  language: "python",
  guess: `
class Guess(TextGame):
    max_turns = 3
    def reset(self, seed=None):
        self.secret = self.start(seed).randint(1, 100)
        return self.show("Guess a number from 1 to 100.")
    def step(self, action):
        if not action.isdigit():
            return self.tell("Not a number.")
        return self.judge(action, self.secret) if same(action, self.secret) else self.tell("higher" if int(action) < self.secret else "lower")
    def solution(self):
        return self.secret
`,
  guessVariables: 1,
  healthy: healthySource,
  shaped: ({ reset = "return 'ready'", step = "return 'x', 0.0, False, False, {}", solution }) =>
    `class Game:\n    def reset(self, seed=None):\n        ${reset}\n    def step(self, action):\n        ${step}\n${solution === undefined ? "" : `    def solution(self):\n        ${solution}\n`}`,
  returns: (observation, { reward = "0.0", terminated = "False", truncated = "False", info = "{}" } = {}) => `return ${observation}, ${reward}, ${terminated}, ${truncated}, ${info}`,
  failsWhenOdd: "assert seed % 2 == 0, 'odd'\n        return 'even'",
  repeat: (character, count) => `'${character}' * ${count}`,
  true: "True",
  loop: "for _ in range(int(action)): pass\n        return 'x', 0, False, False, {}",
  fuel: { perCall: 200, from: 9000, to: 10_500, by: 75 },
  badRewards: [["float('nan')", "nan"], ["float('inf')", "inf"], ["-float('inf')", "-inf"], ["1e308 * 10", "inf"], ["10.5", "10.5"], ["10 ** 400", "1000"], ["'1'", "'1'"], ["None", "None"]],
  badSteps: [
    ["return 'x', 0.0, True, {}", "4 values"],
    ["return 'x'", "expected 5 values"],
    ["return 'x', 0.0, 1, False, {}", "terminated"],
    ["return 'x', 0.0, False, None, {}", "truncated"],
    ["return 'x', 0.0, False, False, None", "info"],
    ["return None, 0.0, False, False, {}", "observation"],
  ],
  badResets: ["return None", "return 'a', {}, 1"],
  solutions: [
    ["return [1, 2.5, 'a b']", ["1", "2.5", "a b"]],
    ["return 'one'", ["one"]],
    ["return 42", ["42"]],
    ["return ['so \\\\boxed{4} it is', '\\\\boxed{{1,2}}', '\\\\boxed{open']", ["4", "{1,2}", "\\boxed{open"]],
    ["return []", []],
  ],
  badSolutions: ["return None", "return {'a'}", "return [None]", "return [['a']]"],
};

const typescript: Dialect = {
  language: "typescript",
  guess: `
export default class Guess extends TextGame {
  maxTurns = 3;
  secret!: number;
  reset(seed: number) { this.secret = this.start(seed).int(1, 100); return this.show("Guess a number from 1 to 100."); }
  step(action: string) {
    if (!/^\\d+$/.test(action)) return this.tell("Not a number.");
    return same(action, this.secret) ? this.judge(action, this.secret) : this.tell(Number(action) < this.secret ? "higher" : "lower");
  }
  solution() { return this.secret; }
}
`,
  guessVariables: 2,
  healthy: healthyTypeScript,
  shaped: ({ reset = "return 'ready'", step = "return { observation: 'x', reward: 0, terminated: false, truncated: false }", solution }) =>
    `export default class Game {\n  reset(seed: number): any { ${reset} }\n  step(action: string): any { ${step} }\n  ${solution === undefined ? "" : `solution(): any { ${solution} }`}\n}\n`,
  returns: (observation, { reward = "0", terminated = "false", truncated = "false", info = "{}" } = {}) => `return { observation: ${observation}, reward: ${reward}, terminated: ${terminated}, truncated: ${truncated}, info: ${info} }`,
  failsWhenOdd: "if (seed % 2 !== 0) throw new Error('odd'); return 'even'",
  repeat: (character, count) => `'${character}'.repeat(${count})`,
  true: "true",
  loop: "let x = 0; for (let i = 0; i < Number(action); i++) x += i; return { observation: String(x), reward: 0, terminated: false, truncated: false }",
  fuel: { perCall: 2000, from: 10_000, to: 80_000, by: 5000 },
  badRewards: [["NaN", "NaN"], ["Infinity", "Infinity"], ["10.5", "10.5"], ["'1'", '"1"'], ["undefined", "undefined"], ["1n", "bigint"]],
  badSteps: [
    ["return { observation: 'x', reward: 0, terminated: 1, truncated: false }", "terminated"],
    ["return { observation: 'x', reward: 0, terminated: false, truncated: null }", "truncated"],
    ["return { observation: 'x', reward: 0, terminated: false, truncated: false, info: 3 }", "info"],
    ["return { observation: null, reward: 0, terminated: false, truncated: false }", "observation"],
  ],
  badResets: ["return null"],
  solutions: [
    ["return ['\\\\boxed{4}', 2.5]", ["4", "2.5"]],
    ["return 'one'", ["one"]],
    ["return 42", ["42"]],
    ["return []", []],
  ],
  badSolutions: ["return { a: 1 }", "return null"],
};

/** Every language of the sandbox: the contract's suite runs once for each. */
export const dialects: readonly Dialect[] = [python, typescript];
