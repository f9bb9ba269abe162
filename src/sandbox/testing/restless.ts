import type { Program } from "../../core/environment.ts";

/**
 * Asks for what could differ between plays: clock, chance, hashes and order of text, garbage, time zones, decimals, errors, deep stacks.
 * Addresses (`id`, the order of sets of plain objects) are left out: they follow the history of the interpreter, which the
 * instances of a program share.
 */
const python = `
import gc, math, os, random, sys, time, uuid, weakref

class Restless:
    def reset(self, seed=None):
        random.seed(seed)
        self.kept, self.turn = [], 0
        self.walk = self.steps()
        next(self.walk)
        return f"{random.random()} {time.time()} {os.urandom(4).hex()} {uuid.uuid4()} {hash('text')} {os.getpid()} {time.tzname}"

    def steps(self):
        action = yield
        while True:
            self.turn += 1
            action = yield f"{self.turn} {len(action)} {random.gauss(0, 1)!r}"

    def depth(self, n):
        try:
            return self.depth(n + 1)
        except RecursionError:
            return n

    def step(self, action):
        said = [self.walk.send(action), " ".join({action, "a", "b", str(self.turn)}), repr(math.sin(len(action) + self.turn)), str(1 / (self.turn + 2)), f"{1e22 * self.turn:e}"]
        self.kept.append({weakref.ref(self): action, object(): time.monotonic()})
        said.append(str([sys.getsizeof(self.kept), gc.get_count()[0] >= 0, len(self.kept[-1])]))
        if action == "yes": said.append(str(self.depth(0)))
        if action == "open": said.append(repr([str(e) for e in [self.error(lambda: {}["x"]), self.error(lambda: 1 / 0), self.error(lambda: open("/etc/passwd")), self.error(lambda: None.x)]]))
        return "|".join(said), 0.0, action == "left", False, {}

    def error(self, attempt):
        try:
            attempt()
        except Exception as error:
            return error
`;

const typescript = `
const seen = new Map<object, string>();
let late = 0;

export default class Restless {
  turn = 0;
  walk!: Generator<string, void, string>;
  reset(seed: number) {
    this.walk = this.steps();
    this.walk.next();
    return \`\${seed} \${Math.random()} \${Date.now()} \${new Date().toString()} \${new Date(2e12).toLocaleString()} \${typeof performance} \${Object.getOwnPropertyNames(globalThis).length}\`;
  }
  *steps(): Generator<string, void, string> {
    for (let action = yield ""; ; ) action = yield \`\${++this.turn} \${action.length} \${Math.random()}\`;
  }
  depth(n: number): number {
    try {
      return this.depth(n + 1);
    } catch {
      return n;
    }
  }
  step(action: string) {
    seen.set({}, action);
    void Promise.resolve().then(() => late++);
    const said = [this.walk.next(action).value, String(Math.sin(action.length + this.turn)), (1 / (this.turn + 2)).toFixed(20), (1e21 * this.turn).toString(36), Math.pow(1.1, this.turn * 37), seen.size, late, [..."b é a \\u{1f600}"].sort().join(), action.localeCompare("m"), action.normalize("NFD").length];
    if (action === "yes") said.push(this.depth(0));
    if (action === "open") for (const attempt of [() => (null as any).x, () => (undefined as any)(), () => JSON.parse(action), () => new Array(-1)]) try { attempt(); } catch (error) { said.push(String(error), (error as Error).stack ?? ""); }
    return { observation: said.join("|"), reward: 0, terminated: action === "left", truncated: false };
  }
}
`;

/** Programs that ask for whatever could differ from one play to the next, in both languages. */
export const restlessPrograms: readonly { readonly name: string; readonly program: Program }[] = [
  { name: "restless.py", program: { language: "python", source: python } },
  { name: "restless.ts", program: { language: "typescript", source: typescript } },
];
