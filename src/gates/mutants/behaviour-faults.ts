import { type MutationOperator, wrapping } from "./operator.ts";

/** Code after the program's step, in both languages. */
function after(id: string, fault: string, python: readonly string[], typescript: readonly string[]): MutationOperator {
  return wrapping({ id, fault, python: { afterStep: python }, typescript: { afterStep: typescript } });
}

/** Code before the program's step, in both languages. */
function before(id: string, fault: string, python: readonly string[], typescript: readonly string[]): MutationOperator {
  return wrapping({ id, fault, python: { beforeStep: python }, typescript: { beforeStep: typescript } });
}

/** Faults in what step and reset return. */
export const valueFaults: readonly MutationOperator[] = [
  after("reward-nan", "losing ends pay NaN", ['if terminated and reward < 0.5: reward = float("nan")'], ["if (terminated && reward < 0.5) reward = NaN;"]),
  after("reward-infinite", "winning pays infinitely much", ['if reward > 0.5: reward = float("inf")'], ["if (reward > 0.5) reward = Infinity;"]),
  after("reward-out-of-range", "winning pays 100", ["if reward > 0.5: reward = 100.0"], ["if (reward > 0.5) reward = 100;"]),
  after("reward-as-text", "the reward is a text", ["reward = str(reward)"], ["reward = String(reward);"]),
  after("end-as-text", "whether the episode is over is told as text", ['terminated = "yes" if terminated else "no"'], ['terminated = terminated ? "yes" : "no";']),
  after("observation-empty", "steps that go on show nothing", ['if not terminated and not truncated: text = ""'], ['if (!terminated && !truncated) text = "";']),
  wrapping({ id: "first-observation-empty", fault: "reset shows nothing", python: { afterReset: ['text = ""'] }, typescript: { afterReset: ['text = "";'] } }),
  after("observation-no-text", "the observation is an object", ['text = {"text": text}'], ["text = { text };"]),
  after("observation-too-long", "the observation has more than 16,384 characters", ['text = text + "." * 20000'], ['text += ".".repeat(20000);']),
  after("step-of-wrong-arity", "step returns three values", ["return text, reward, terminated"], ["return [text, reward, terminated];"]),
  after("step-returns-nothing", "losing ends return nothing", ["if terminated and reward < 0.5: return None"], ["if (terminated && reward < 0.5) return undefined;"]),
];

/** Faults in how long, how much and with what step works, and what it raises. */
export const resourceFaults: readonly MutationOperator[] = [
  before("hang-on-seventh-call", "the seventh step of an instance never returns", ["while self.calls_ >= 7: pass"], ["while (this.calls_ >= 7);"]),
  before("hang-on-seventh-turn", "the seventh step of an episode never returns", ["while self.turn_ >= 7: pass"], ["while (this.turn_ >= 7);"]),
  after("hang-on-loss", "a losing end never returns", ["while terminated and reward < 0.5: pass"], ["while (terminated && reward < 0.5);"]),
  wrapping({ id: "memory-growth", fault: "every step keeps 48 MiB", python: { members: ["kept_ = []"], beforeStep: ["self.kept_.append(bytearray(48 << 20))"] }, typescript: { members: ["kept_ = [];"], beforeStep: ["this.kept_.push(new Uint8Array(48 << 20).fill(1));"] } }),
  after("recursion", "a losing end calls step again", ["if terminated and reward < 0.5: return self.step(action)"], ["if (terminated && reward < 0.5) return this.step(action);"]),
  wrapping({
    id: "clock-needed",
    fault: "nothing counts before an hour has passed",
    python: { prelude: ["import time"], afterReset: ["self.opens_ = time.time() + 3600"], beforeStep: ['if time.time() < self.opens_: return "It is too early.", 0.0, False, False, {}'] },
    typescript: { afterReset: ["this.opens_ = Date.now() + 3600000;"], beforeStep: ['if (Date.now() < this.opens_) return { observation: "It is too early.", reward: 0, terminated: false, truncated: false };'] },
  }),
  wrapping({ id: "exit-on-loss", fault: "a losing end leaves the process", python: { prelude: ["import sys"], afterStep: ["if terminated and reward < 0.5: sys.exit(0)"] } }),
  before("raises-on-empty", "an empty action raises", ["action.strip()[0]"], ["action.trim()[0].length;"]),
  before("raises-on-unicode", "an action beyond ASCII raises", ['action.encode("ascii")'], ['if (/[^\\x00-\\x7f]/.test(action)) throw new Error("not ASCII");']),
  before("raises-on-long", "an action of more than 1,000 characters raises", ['if len(action) > 1000: raise ValueError("too long")'], ['if (action.length > 1000) throw new RangeError("too long");']),
  after("name-undefined", "a losing end uses a name that does not exist", ["if terminated and reward < 0.5: text = explanation"], ["if (terminated && reward < 0.5) text = explanation;"]),
  wrapping({ id: "file-read-in-step", fault: "a losing end reads a file", python: { afterStep: ['if terminated and reward < 0.5: text = open("/etc/hostname").read()'] } }),
  wrapping({ id: "forbidden-import", fault: "a forbidden module is imported", python: { prelude: ["import socket"] }, typescript: { prelude: ['import fs from "node:fs";', "fs.readdirSync;"] } }),
];

/**
 * Faults by which a trace depends on more than seed and actions. Addresses, set order and entropy are faults of Python
 * only: in TypeScript there are no addresses, sets keep their order, and `Math.random` is a function of the seed.
 */
export const stateFaults: readonly MutationOperator[] = [
  wrapping({ id: "class-state", fault: "moves are counted in the class, over all episodes", python: { members: ["moves_ = []"], afterStep: ["self.moves_.append(action)", 'text = f"{text} ({len(self.moves_)} moves)"'] }, typescript: { members: ["static moves_ = 0;"], afterStep: ["text = `${text} (${++MutantEnv.moves_} moves)`;"] } }),
  wrapping({ id: "reset-only-once", fault: "a second reset does nothing", python: { members: ["first_ = None"], beforeReset: ["if self.first_ is not None: return self.first_, {}"], afterReset: ["self.first_ = text"] }, typescript: { members: ["first_;"], beforeReset: ["if (this.first_ !== undefined) return { observation: this.first_ };"], afterReset: ["this.first_ = text;"] } }),
  before("turns-survive-reset", "after five steps of all episodes together the game is lost", ['if self.calls_ > 5: return "No more turns.", 0.0, True, False, {}'], ['if (this.calls_ > 5) return { observation: "No more turns.", reward: 0, terminated: true, truncated: false };']),
  wrapping({ id: "address-in-text", fault: "steps show an address in memory", python: { afterStep: ['text = f"{text} <{id(self):x}>"'] } }),
  wrapping({ id: "set-order", fault: "steps list a set whose order depends on addresses", python: { prelude: ["class Mark:", "    def __init__(self, name):", "        self.name = name", ""], afterStep: ['text = text + " " + "".join(mark.name for mark in {Mark(name) for name in "abcdefghijklmnop"})'] } }),
  wrapping({ id: "entropy", fault: "steps show random bytes", python: { prelude: ["import os"], afterStep: ['text = f"{text} {os.urandom(4).hex()}"'] } }),
];
