import { setImmediate as turn } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { Rng, deriveSeed } from "../core/seed.ts";
import { goodPrograms } from "../gates/testing/programs.ts";
import type { SampleRequest } from "../policy/policy.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { scriptedLoop, type ScriptedLoop, written } from "./testing/scripted-loop.ts";

vi.setConfig({ testTimeout: 180_000 });
let real: Sandbox;
let loop: ScriptedLoop | undefined;
beforeAll(async () => {
  real = await openSandbox({ lanes: 1 });
}, 120_000);
afterEach(() => loop?.close());
afterAll(() => real.close());

/** The clock of a model: it moves, from one end of a sample to the next, only when nothing else can happen. */
class ModelTime {
  now = 0;
  #busy = 0;
  #due: { readonly at: number; readonly resolve: () => void }[] = [];
  #watching = false;

  /** Takes no time of the model's, however long it takes. */
  during<T>(work: Promise<T>): Promise<T> {
    this.#busy += 1;
    return work.finally(() => (this.#busy -= 1));
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#due.push({ at: this.now + ms, resolve });
      if (!this.#watching) void this.#watch();
    });
  }

  async #watch(): Promise<void> {
    this.#watching = true;
    for (let quiet = 0; this.#due.length > 0; ) {
      await turn();
      quiet = this.#busy > 0 ? 0 : quiet + 1;
      if (quiet < 10) continue;
      quiet = 0;
      const next = this.#due.reduce((first, each) => (each.at < first.at ? each : first));
      this.#due = this.#due.filter((each) => each !== next);
      this.now = next.at;
      next.resolve();
    }
    this.#watching = false;
  }
}

/** The same object, whose calls take no time of the model's. */
function timeless<T extends object>(target: T, time: ModelTime): T {
  return new Proxy(target, {
    get: (_, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]): Promise<unknown> => {
        const called = Promise.resolve(Reflect.apply(value, target, args)).then((result: unknown) =>
          key === "open" && typeof result === "object" && result !== null && "value" in result ? { ...result, value: timeless(result.value as object, time) } : result,
        );
        return time.during(called);
      };
    },
  });
}

/** How long the model takes for a request; very different from one to the other. */
const serviceMs = (seed: number): number => (new Rng(seed).chance(0.1) ? 5000 : 100) + (seed % 900);

/** Designs of two tasks, each with eight episodes of up to four turns. */
async function iteration(time: ModelTime, concurrent: boolean): Promise<readonly SampleRequest[]> {
  const delay = ({ seed }: SampleRequest): Promise<void> => time.wait(serviceMs(seed));
  const script = { design: () => written(goodPrograms["hidden tray"] ?? ""), hint: () => "Begin in the middle.", act: ({ seed }: { readonly seed: number }) => `\\boxed{${(seed % 40) + 1}}` };
  loop = await scriptedLoop(timeless(real, time), script, { design: { tasksPerIteration: 2, activeSkills: 1, sampling: { maxTokens: 2000 } } }, { delay, concurrent });
  await loop.next();
  return loop.requests;
}

/** The longest chain of requests of which each needs the one before: candidate, hint, turns of one episode. */
function longestChain(requests: readonly SampleRequest[]): number {
  const episodes = new Map<string, number>();
  for (const { session, seed } of requests) if (session !== undefined) episodes.set(session, (episodes.get(session) ?? 0) + serviceMs(seed));
  return Math.max(
    ...[...episodes].map(([session, ms]) => {
      const [, design = ""] = session.split("/");
      const task = design.slice(0, design.lastIndexOf("."));
      return serviceMs(deriveSeed(1, 1, task, "design", 0)) + serviceMs(deriveSeed(1, 1, design, "hint")) + ms;
    }),
  );
}

test("with a concurrent policy an iteration takes as long as its longest chain of samples, and in batches longer", async () => {
  const time = new ModelTime();
  const requests = await iteration(time, true);
  expect(requests.length).toBeGreaterThan(20);
  expect(time.now).toBe(longestChain(requests));
  loop?.close();
  const batches = new ModelTime();
  await iteration(batches, false);
  expect(batches.now).toBeGreaterThan(time.now);
});
