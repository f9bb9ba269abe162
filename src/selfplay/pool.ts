import type { IterationWriter } from "../storage/iteration-writer.ts";
import type { Dependencies } from "./dependencies.ts";
import { SpadeError } from "../core/errors.ts";
import { SamplingTasks } from "../policy/sampling-tasks.ts";
import { designSet } from "./design-set.ts";
import type { WindowEnvironment } from "./measure.ts";
import { recordDesigns } from "./record.ts";
import type { LoopState } from "./state.ts";
import { windowEnvironment } from "./window.ts";

/** Design rounds after which an unfilled pool is taken as it is. */
const maxRounds = 40;

/**
 * Prepares the first iteration: nothing in self-play; in a control run the fixed pool, designed by the untrained policy.
 * @throws SpadeError gate.emptyPool when no candidate was admitted
 */
export async function preparePool(before: LoopState, deps: Dependencies, writer: IterationWriter): Promise<LoopState> {
  const { environments } = deps.config;
  if (environments.kind !== "frozenPool") return before;
  const pool: WindowEnvironment[] = [];
  for (let round = 0; round < maxRounds && pool.length < environments.size; round++) {
    const set = await SamplingTasks.during(deps.policy, (tasks) => designSet({ iteration: 0, prefix: `pool${round}`, state: { ...before, round }, known: [] }, tasks, deps));
    recordDesigns(writer, { ...set, kinds: deps.kinds });
    pool.push(...set.admitted.map((design) => ({ ...windowEnvironment(design, before), origin: "pool" as const })));
  }
  if (pool.length === 0) throw new SpadeError("gate.emptyPool", `None of the designs of ${maxRounds} rounds was admitted, so there is no pool to train on. Look at the gates' evidence in the record, or use another model.`);
  return { ...before, pool: pool.slice(0, environments.size) };
}
