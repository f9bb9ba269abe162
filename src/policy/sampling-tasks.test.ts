import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { saidIn } from "./either.ts";
import type { AnyPolicy, Policy, Sample, SampleRequest } from "./policy.ts";
import { type Ask, type Rank, SamplingTasks } from "./sampling-tasks.ts";

const sampling = { temperature: 1, topP: 1, topK: 0, maxTokens: 1 };
const request = (seed: number): SampleRequest => ({ prompt: Int32Array.of(1), sampling, seed });
const sample = ({ seed }: SampleRequest): Sample => ({ tokens: Int32Array.of(seed), logprobs: Float32Array.of(0), stop: "stop", policyVersion: 0 });

/** A policy that notes the seeds of each batch. */
function noting(batches: number[][], concurrent = false): Policy {
  return {
    contextLength: 10,
    concurrent,
    sample: (requests) => {
      batches.push(requests.map(({ seed }) => seed));
      return Promise.resolve(requests.map(sample));
    },
  };
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await turn();
}

/** A task that asks at each of its ranks, after working for some time; the seed is the rank's digits. */
const asking = (policy: AnyPolicy, work: number, ...ranks: readonly Rank[]) => async (ask: Ask): Promise<number[]> => {
  const seen: number[] = [];
  for (const rank of ranks) {
    await turns(work);
    seen.push(...(saidIn(await ask(policy, request(Number(rank.join(""))), { rank })) as Int32Array));
  }
  return seen;
};

test("a policy that is asked in batches gets the earliest stage first, in the order of ranks, however long the tasks work", async () => {
  for (const work of [[0, 0, 0], [5, 0, 2], [1, 9, 0]]) {
    const batches: number[][] = [];
    const policy = noting(batches);
    const seen = await SamplingTasks.during((tasks) =>
      Promise.all([
        tasks.run(asking(policy, work[0] ?? 0, [1, 3], [2, 1])),
        tasks.run(asking(policy, work[1] ?? 0, [1, 1], [1, 2], [2, 2])),
        tasks.flow(async () => {
          await tasks.run(asking(policy, work[2] ?? 0, [1, 4]));
          return tasks.run(asking(policy, 1, [2, 3]));
        }),
      ]),
    );
    expect(batches).toEqual([[11, 13, 14], [12], [21, 22, 23]]);
    expect(seen).toEqual([[13, 21], [11, 12, 22], [23]]);
  }
});

test("a concurrent policy gets each request at once", async () => {
  const batches: number[][] = [];
  const slow = Promise.withResolvers<undefined>();
  const policy: Policy = {
    ...noting(batches, true),
    sample: async ([asked]) => {
      batches.push([asked?.seed ?? NaN]);
      if (asked?.seed === 11) await slow.promise;
      if (asked?.seed === 23) slow.resolve(undefined);
      return asked === undefined ? [] : [sample(asked)];
    },
  };
  await SamplingTasks.during((tasks) => Promise.all([tasks.run(asking(policy, 0, [1, 1])), tasks.run(asking(policy, 0, [2, 1], [2, 2], [2, 3]))]));
  expect(batches).toEqual([[11], [21], [22], [23]]);
});

test("each of several policies gets batches of its own, and waits for those who ask a concurrent one", async () => {
  const [one, other, concurrent]: [number[][], number[][], number[][]] = [[], [], []];
  const policies = { one: noting(one), other: noting(other), concurrent: noting(concurrent, true) };
  await SamplingTasks.during((tasks) =>
    Promise.all([
      tasks.run(asking(policies.one, 0, [1, 2], [2, 1])),
      tasks.run(asking(policies.other, 0, [1, 1])),
      tasks.flow(async () => {
        await tasks.run(asking(policies.concurrent, 3, [1, 4], [1, 5]));
        return tasks.run(asking(policies.one, 0, [1, 3]));
      }),
    ]),
  );
  expect({ one, other, concurrent }).toEqual({ one: [[12, 13], [21]], other: [[11]], concurrent: [[14], [15]] });
});

test.each([false, true])("the first failure ends all tasks, and is thrown when they have ended (concurrent: %s)", async (concurrent) => {
  const batches: number[][] = [];
  const failure = new Error("the first");
  const ended: string[] = [];
  const outcome = SamplingTasks.during(async (tasks) => {
    const long = tasks.run(async (ask) => {
      try {
        for (let i = 1; ; i++) await asking(noting(batches, concurrent), 3, [1, i])(ask);
      } finally {
        await turns(5);
        ended.push("long");
      }
    });
    await Promise.all([
      tasks.run(async () => {
        await turns(2);
        throw failure;
      }),
      long,
    ]);
  });
  await expect(outcome).rejects.toBe(failure);
  expect(ended).toEqual(["long"]);
});

test("a signal ends all tasks", async () => {
  const stop = new AbortController();
  const reason = new Error("stopped");
  const outcome = SamplingTasks.during((tasks) => tasks.run(async (ask) => {
    for (let i = 1; ; i++) await asking(noting([], true), 1, [1, i])(ask);
  }), stop.signal);
  await turns(10);
  stop.abort(reason);
  await expect(outcome).rejects.toBe(reason);
  await expect(SamplingTasks.during((tasks) => tasks.run(asking(noting([]), 0, [1, 1])), stop.signal)).rejects.toBe(reason);
});
