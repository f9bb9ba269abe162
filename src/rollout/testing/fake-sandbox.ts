import { SpadeError } from "../../core/errors.ts";
import { defaultLimits } from "../../sandbox/limits.ts";
import type { GuestFailureCode, GuestResult, Limits, ProgramFacts, ProgramHandle, Sandbox, StepValue } from "../../sandbox/sandbox.ts";

/** An environment written for a test of the episode loop. A string in place of a step is a guest failure's code. */
export interface FakeEnvironment {
  reset(seed: number): string | { readonly failure: GuestFailureCode };
  step(action: string): Partial<StepValue> | { readonly failure: GuestFailureCode };
}

/** A sandbox without Python, for the loop's own tests: `source` names the environment. `onCall` may throw, as a dying child would. */
export function fakeSandbox(options: {
  readonly environments: Readonly<Record<string, () => FakeEnvironment>>;
  readonly maxInstances?: number;
  readonly onCall?: (call: "open" | "create" | "step", source: string) => void;
}): Sandbox & { readonly live: () => number } {
  const { environments, maxInstances = 1000, onCall } = options;
  const limits: Limits = { ...defaultLimits, maxInstances };
  const facts: ProgramFacts = { entry: "Fake", hasSolution: false, actionForm: "boxed", skeleton: "", shingles: [], strings: [], stateVariables: 0 };
  let live = 0;
  const open = (source: string): ProgramHandle => {
    const make = environments[source];
    if (make === undefined) throw new SpadeError("internal.invariant", `No fake environment is called ${source}.`);
    const instances = new Map<number, FakeEnvironment>();
    let next = 0;
    const settle = <T>(value: T | { readonly failure: GuestFailureCode }): GuestResult<T> =>
      typeof value === "object" && value !== null && "failure" in value ? { ok: false, failure: { code: value.failure, message: "fake" } } : { ok: true, value };
    const lookUp = (instance: number): FakeEnvironment => {
      const found = instances.get(instance);
      if (found === undefined) throw new SpadeError("sandbox.instance", `Instance ${instance} is unknown.`);
      return found;
    };
    live++;
    return {
      facts,
      lane: 0,
      create: (seeds) =>
        Promise.resolve().then(() => {
          onCall?.("create", source);
          return seeds.map((seed) => {
            const environment = make();
            const observation = settle(environment.reset(seed));
            if (!observation.ok) return observation;
            instances.set(next, environment);
            if (instances.size > maxInstances) throw new SpadeError("sandbox.instances", "Too many instances.");
            return { ok: true as const, value: { instance: next++, observation: observation.value } };
          });
        }),
      reset: (calls) =>
        Promise.resolve().then(() =>
          calls.map(({ instance, seed }) => {
            const observation = settle(lookUp(instance).reset(seed));
            return observation.ok ? { ok: true as const, value: { observation: observation.value } } : observation;
          }),
        ),
      step: (calls) =>
        Promise.resolve().then(() => {
          onCall?.("step", source);
          return calls.map(({ instance, action }) => {
            const step = settle(lookUp(instance).step(action));
            if (!step.ok) return step;
            return { ok: true as const, value: { observation: "", reward: 0, terminated: false, truncated: false, warnings: [], ...step.value } };
          });
        }),
      solution: (ids) => Promise.resolve(ids.map(() => ({ ok: false as const, failure: { code: "protocol" as const, message: "fake" } }))),
      about: (ids) => Promise.resolve(ids.map(() => ({ ok: true as const, value: {} }))),
      spent: () => ({ fuel: 0, wallMs: 0 }),
      fork: () => Promise.reject(new SpadeError("sandbox.fork", "A fake environment cannot be forked.")),
      restore: () => Promise.reject(new SpadeError("sandbox.fork", "A fake environment cannot be restored.")),
      release: (ids) => {
        for (const id of ids) instances.delete(id);
        return Promise.resolve();
      },
      close: () => {
        live--;
        return Promise.resolve();
      },
    };
  };
  return {
    lanes: 1,
    limits,
    live: () => live,
    open: (program) =>
      Promise.resolve().then(() => {
        onCall?.("open", program.source);
        return { ok: true as const, value: open(program.source) };
      }),
    close: () => Promise.resolve(),
  };
}
