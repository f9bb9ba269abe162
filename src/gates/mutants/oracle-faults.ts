import { hasSolution, wrapped } from "./wrap.ts";
import { type MutationOperator, rewriting, wrapping } from "./operator.ts";

/** An operator that changes the list of the solution's actions. */
function oracle(id: string, fault: string, python: string, typescript: string): MutationOperator {
  return wrapping({ id, fault, python: { solution: [python] }, typescript: { solution: [typescript] } });
}

/** An operator after which the first observation tells the solution. */
function leaking(id: string, fault: string, python: string, typescript: string): MutationOperator {
  return wrapping({
    id,
    fault,
    python: { afterReset: ['told = ", ".join(self.oracle_())', `text = f"${python}"`] },
    typescript: { afterReset: ['const told = this.oracle_().join(", ");', `text = \`${typescript}\`;`] },
  });
}

/** Faults in solution(), in the answer's secrecy and in what the seed decides. */
export const oracleFaults: readonly MutationOperator[] = [
  oracle("oracle-forgets-last", "solution() leaves out its last step", "if len(actions) > 1: actions = actions[:-1]", "if (actions.length > 1) actions = actions.slice(0, -1);"),
  wrapping({
    id: "oracle-forgets-write",
    fault: "solution() leaves out the first of its steps that is needed",
    python: {
      prelude: ["from copy import deepcopy"],
      members: ["def needed_(self, actions, k):", "    trial = deepcopy(self)", "    ends = [super(MutantEnv, trial).step(action) for i, action in enumerate(actions) if i != k]", "    return not any(end[1] > 0.5 and end[2] for end in ends)"],
      solution: ["if len(actions) > 1: actions.pop(next(k for k in range(len(actions)) if self.needed_(actions, k)))"],
    },
  }),
  wrapping({
    id: "oracle-off-by-one",
    fault: "the last number of the solution is one too high",
    python: { prelude: ["import re"], solution: ['actions[-1] = re.sub(r"\\d+(?=\\D*$)", lambda found: str(int(found.group()) + 1), actions[-1])'] },
    typescript: { solution: ["actions = [...actions.slice(0, -1), actions.at(-1).replace(/\\d+(?=\\D*$)/, (found) => String(Number(found) + 1))];"] },
  }),
  wrapping({
    id: "oracle-of-other-seed",
    fault: "solution() is that of the next seed",
    python: { beforeReset: ["super().reset(seed + 1)", "self.other_ = self.oracle_()"], solution: ["actions = self.other_"] },
    typescript: { beforeReset: ["super.reset(seed + 1);", "this.other_ = this.oracle_();"], solution: ["actions = this.other_;"] },
  }),
  oracle("oracle-empty", "solution() has no actions", "actions = []", "actions = [];"),
  oracle("oracle-raises", "solution() raises", "actions[len(actions)]", "null.length;"),
  oracle("oracle-too-long", "solution() waits 30 turns first", 'actions = ["wait"] * 30 + actions', 'actions = [...Array(30).fill("wait"), ...actions];'),
  oracle("oracle-of-wrong-type", "solution() returns a list of lists", "actions = [[action] for action in actions]", "actions = actions.map((action) => [action]);"),
  {
    id: "oracle-missing",
    fault: "there is no solution()",
    kind: "executable",
    form: "program",
    mutate: (program) => (hasSolution(program) ? wrapped(program, { members: [program.language === "python" ? "solution = None" : "solution = undefined;"] }) : undefined),
  },
  leaking("answer-appended", "the first observation ends with the solution", "{text} The answer is: {told}", "${text} The answer is: ${told}"),
  leaking("answer-in-front", "the first observation begins with the solution", "[{told}] {text}", "[${told}] ${text}"),
  wrapping({ id: "answer-constant", fault: "the text changes with the seed, the game is that of seed 0", python: { afterReset: ["super().reset(0)"] }, typescript: { afterReset: ["super.reset(0);"] } }),
  wrapping({ id: "seed-frozen", fault: "every seed is taken as 7", python: { seed: "7" }, typescript: { seed: "7" } }),
  wrapping({ id: "seed-of-two", fault: "only whether the seed is even matters", python: { seed: "seed % 2" }, typescript: { seed: "seed % 2" } }),
  wrapping({ id: "seed-from-clock", fault: "the clock is the seed", python: { prelude: ["import time"], seed: "int(time.time())" }, typescript: { seed: "Math.floor(Date.now() / 1000)" } }),
  rewriting({ id: "seed-dropped", fault: "the random source is seeded with 0", python: { pattern: /\b(?:random\.)?Random\(seed\)|\bself\.start\(seed\)/g, replacement: (found) => found.replace("(seed)", "(0)") }, typescript: { pattern: /\bnew Random\(seed\)|\bthis\.start\(seed\)/g, replacement: (found) => found.replace("(seed)", "(0)") } }),
  rewriting({ id: "random-global", fault: "the global random source is used and never seeded", python: { pattern: /\brandom\.Random\(seed\)/g, replacement: () => "random" } }),
];
