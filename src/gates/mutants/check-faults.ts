import { type MutationOperator, rewriting, wrapping } from "./operator.ts";

const win = { python: 'return "Done.", 1.0, True, False, {}', typescript: 'return { observation: "Done.", reward: 1, terminated: true, truncated: false };' };

/** An operator after which a step wins at once when a condition holds, given in both languages. */
function wins(id: string, fault: string, [python, typescript]: readonly [string, string], needs: { python?: readonly string[]; typescript?: readonly string[] } = {}): MutationOperator {
  return wrapping({
    id,
    fault,
    python: { afterReset: needs.python ?? [], beforeStep: [`if ${python}: ${win.python}`] },
    typescript: { afterReset: needs.typescript ?? [], beforeStep: [`if (${typescript}) ${win.typescript}`] },
  });
}

/** Faults in the check: what wins and what does not. */
export const checkFaults: readonly MutationOperator[] = [
  wrapping({ id: "check-dropped", fault: "every action wins", python: { afterStep: ["reward, terminated = 1.0, True"] }, typescript: { afterStep: ["reward = 1; terminated = true;"] } }),
  rewriting({ id: "check-dropped-in-place", fault: "the reward no longer depends on the check", python: { pattern: /\b1(?:\.0)? if [\w.]+(?: == [\w.]+)? else 0(?:\.0)?(?![\w.])/g, replacement: () => "1.0" }, typescript: { pattern: /(?<!&& )\b[\w.]+ === [\w.]+ \? 1 : 0/g, replacement: () => "1" } }),
  wrapping({ id: "verdict-inverted", fault: "losing ends win and winning ones lose", python: { afterStep: ["if terminated: reward = 0.0 if reward > 0.5 else 1.0"] }, typescript: { afterStep: ["if (terminated) reward = reward > 0.5 ? 0 : 1;"] } }),
  rewriting({
    id: "comparison-flipped",
    fault: "the comparison that decides the game is negated",
    python: { pattern: /^[ \t]+(?:won|correct|done)\b = [^\n]*? == |\b1(?:\.0)? if [\w.]+ == (?=[\w.]+ else 0)|\bfinish\([\w.]+ == /gm, replacement: (found) => found.replace(/ == $/, " != ") },
    typescript: { pattern: /[\w.]+ === (?=[\w.]+ \? 1 : 0)/g, replacement: (found) => found.replace(" === ", " !== ") },
  }),
  wins("wins-on-empty", "an empty action wins", ["not action.strip()", 'action.trim() === ""']),
  wins("wins-on-long", "an action of more than 300 characters wins", ["len(action) > 300", "action.length > 300"]),
  wrapping({
    id: "wins-on-repetition",
    fault: "the same action twice in a row wins",
    python: { afterReset: ["self.last_ = None"], beforeStep: [`if action == self.last_: ${win.python}`, "self.last_ = action"] },
    typescript: { afterReset: ["this.last_ = undefined;"], beforeStep: [`if (action === this.last_) ${win.typescript}`, "this.last_ = action;"] },
  }),
  wins("wins-on-seen-word", "any word of the first observation wins", ["action.strip() in self.seen_", "this.seen_.includes(action.trim())"], { python: ["self.seen_ = text.split()"], typescript: ["this.seen_ = text.split(/\\s+/);"] }),
  wins("first-step-free", "the first step of an episode wins", ["self.turn_ == 1", "this.turn_ === 1"]),
  wins("second-step-free", "the second step of an episode wins, whatever it is", ["self.turn_ == 2", "this.turn_ === 2"]),
  wins("hidden-threshold", "from the fourth step on everything wins", ["self.turn_ >= 4", "this.turn_ >= 4"]),
  wins("containment-check", "an action that contains the solution's only action wins", ["len(self.key_) == 1 and self.key_[0] in action", "this.key_.length === 1 && action.includes(this.key_[0])"], { python: ["self.key_ = self.oracle_()"], typescript: ["this.key_ = this.oracle_();"] }),
  wins("reverse-containment", "an action that is part of the solution's only action wins", ["len(self.key_) == 1 and action.strip() in self.key_[0]", "this.key_.length === 1 && this.key_[0].includes(action.trim())"], { python: ["self.key_ = self.oracle_()"], typescript: ["this.key_ = this.oracle_();"] }),
  wrapping({ id: "partial-credit", fault: "losing ends pay 0.6, more than half", python: { afterStep: ["if terminated and reward < 0.5: reward = 0.6"] }, typescript: { afterStep: ["if (terminated && reward < 0.5) reward = 0.6;"] } }),
  wrapping({ id: "unreachable-goal", fault: "the game does not notice that it is won", python: { afterStep: ['if reward > 0.5: text, reward, terminated, truncated = "Not yet.", 0.0, False, False'] }, typescript: { afterStep: ['if (reward > 0.5) { text = "Not yet."; reward = 0; terminated = truncated = false; }'] } }),
  wrapping({ id: "ends-without-reward", fault: "a won game ends with reward 0", python: { afterStep: ["if terminated: reward = 0.0"] }, typescript: { afterStep: ["if (terminated) reward = 0;"] } }),
  wrapping({ id: "never-terminates", fault: "no step ends the episode", python: { afterStep: ["terminated = truncated = False"] }, typescript: { afterStep: ["terminated = truncated = false;"] } }),
  wrapping({
    id: "limit-too-low",
    fault: "the episode is cut off one step before the solution of two and more steps ends",
    python: { afterReset: ["self.length_ = len(self.oracle_())"], afterStep: ["if self.length_ > 1 and self.turn_ >= self.length_ - 1: reward, terminated, truncated = 0.0, False, True"] },
    typescript: { afterReset: ["this.length_ = this.oracle_().length;"], afterStep: ["if (this.length_ > 1 && this.turn_ >= this.length_ - 1) { reward = 0; terminated = false; truncated = true; }"] },
  }),
  ...criteriaFaults(),
];

/** Faults in the criteria of tool-use programs with messages. */
function criteriaFaults(): MutationOperator[] {
  const planted = (id: string, fault: string, [python, typescript]: readonly [string, string]): MutationOperator =>
    wrapping({
      ...{ id, fault, applies: ({ source }) => /_message_criteria|messageCriteria/.test(source) },
      python: { afterReset: [`if self._message_criteria: ${python}`] },
      typescript: { afterReset: [`if (this.messageCriteria.length > 0) ${typescript}`] },
    });
  const last = (id: string, fault: string, python: string, typescript: string): MutationOperator =>
    planted(id, fault, [`self._message_criteria[-1] = lambda state: ${python}`, `this.messageCriteria = [...this.messageCriteria.slice(0, -1), (state) => ${typescript}];`]);
  return [
    last("criterion-of-wrong-type", "the last criterion asks the state for what it does not have", "state > 3", "state.absent.length > 3"),
    last("criterion-unreachable", "the last criterion is never true", "False", "false"),
    last("criterion-held", "the last criterion is true before anything is done", "True", "true"),
    planted("criterion-lost", "the last criterion is missing", ["self._message_criteria.pop()", "this.messageCriteria = this.messageCriteria.slice(0, -1);"]),
  ];
}
