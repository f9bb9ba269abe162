/** Speed of the sandbox: child start, program load, instance creation, steps, program switch. Run it: `node bench/sandbox.ts`. */
import { monotonicClock } from "../src/core/clock.ts";
import { openSandbox } from "../src/sandbox/pool.ts";
import type { ProgramHandle } from "../src/sandbox/sandbox.ts";

const programs = 24;
const batch = 100;
const repetitions = 40;

function program(index: number): string {
  return `
class Guess(TextGame):
    max_turns = 1000
    def reset(self, seed=None):
        rng = self.start(seed)
        self.secret = rng.randint(1, 100)
        self.seen = []
        return self.show("Game ${index}: guess a number from 1 to 100.")
    def step(self, action):
        self.seen.append(action)
        if same(action, self.secret):
            return self.finish(True, f"Right after {len(self.seen)}.")
        return self.tell("higher" if int(action) < self.secret else "lower")
    def solution(self):
        return self.secret
`;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? NaN;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = monotonicClock();
  await work();
  return monotonicClock() - start;
}

/** Measures on one lane; milliseconds and microseconds as the keys say, medians where there are repetitions. */
export async function benchSandbox(): Promise<Record<string, number>> {
  const sandbox = await openSandbox({ lanes: 1 });
  try {
    const handles: ProgramHandle[] = [];
    const loads: number[] = [];
    for (let i = 0; i < programs; i++) {
      loads.push(
        await timed(async () => {
          const opened = await sandbox.open({ language: "python", source: program(i) });
          if (!opened.ok) throw new Error(opened.failure.message);
          handles.push(opened.value);
        }),
      );
    }
    const [first] = handles;
    if (first === undefined) throw new Error("no program");
    const seeds = Array.from({ length: batch }, (_, i) => i);
    const create = await timed(() => first.create(seeds));
    const calls = seeds.map((instance) => ({ instance, action: "0" }));
    const batched: number[] = [];
    const single: number[] = [];
    for (let i = 0; i < repetitions; i++) {
      batched.push(await timed(() => first.step(calls)));
      single.push(await timed(() => first.step([{ instance: 0, action: "0" }])));
    }
    for (const handle of handles) await handle.create([1]);
    const before = sandbox.statistics()[0];
    for (let i = 0; i < 2 * programs; i++) await handles[i % programs]?.step([{ instance: i % programs === 0 ? batch : 0, action: "0" }]);
    const after = sandbox.statistics()[0];
    const switches = (after?.switches ?? 0) - (before?.switches ?? 0);
    return {
      childStartMs: after?.startMs ?? NaN,
      loadMs: median(loads.slice(1)),
      createMs: create / batch,
      stepInBatchUs: (1000 * median(batched)) / batch,
      stepSingleUs: 1000 * median(single),
      switchMs: ((after?.switchMs ?? 0) - (before?.switchMs ?? 0)) / switches,
    };
  } finally {
    await sandbox.close();
  }
}

/** Measures and prints. */
export async function run(words: readonly string[]): Promise<void> {
  if (words.includes("--help")) {
    console.log("Usage: node bench/main.ts sandbox [--json]");
    return;
  }
  const report = await benchSandbox();
  if (words.includes("--json")) console.log(JSON.stringify(report));
  else for (const [name, value] of Object.entries(report)) console.log(`${name.padEnd(16)} ${value.toFixed(2)}`);
}
