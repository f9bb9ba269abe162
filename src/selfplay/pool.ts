import { noDocument, type Program } from "../core/environment.ts";
import { invariant, SpadeError } from "../core/errors.ts";
import { deriveSeed, Rng } from "../core/seed.ts";
import { atDifficulty, declaredDifficulty, firstRange } from "../curriculum/difficulty.ts";
import { SamplingTasks } from "../policy/sampling-tasks.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import { type Beginning, knownEnvironments, nothingJudged } from "./beginning.ts";
import type { Dependencies } from "./dependencies.ts";
import { beginDesigning, isAdmitted, judge } from "./design.ts";
import { designSet } from "./design-set.ts";
import { type WindowEnvironment, windowEnvironment } from "./measure.ts";
import { packagePath } from "./paths.ts";
import { type PoolProgram, readPrograms } from "./pool-folder.ts";
import { admittedProgram, recordDesigns } from "./record.ts";
import type { LoopState } from "./state.ts";
import type { SampledWindow } from "./window.ts";

/** Design rounds after which an unfilled pool is taken as it is. */
const maxRounds = 40;

/**
 * Makes the fixed pool of a control run, part of the record of iteration 0; nothing in self-play.
 * @throws SpadeError gate.emptyPool when no program was admitted, usage.pool when the folder holds none
 */
export async function preparePool(before: LoopState, deps: Dependencies, writer: IterationWriter): Promise<void> {
  const { environments } = deps.config;
  if (environments.kind === "selfplay") return;
  if (environments.kind === "frozenPool") {
    let size = 0;
    for (let round = 0; round < maxRounds && size < environments.size; round++) {
      const set = await SamplingTasks.during((tasks) => designSet({ iteration: 0, prefix: `pool${round}`, state: { ...before, round }, known: [] }, tasks, deps));
      recordDesigns(writer, { ...set, kinds: deps.kinds });
      size += set.admitted.length;
    }
    if (size === 0) throw emptyPool(`None of the designs of ${maxRounds} rounds`);
    return;
  }
  const programs = readPrograms(packagePath(environments.path));
  const { judged: { admitted }, record } = await judgePrograms(0, programs, deps);
  record(writer);
  deps.listener({ kind: "notice", text: `pool: ${admitted.length} of the ${programs.length} programs of ${environments.path} were admitted` });
  if (admitted.length === 0) throw emptyPool(`None of the ${programs.length} programs of ${environments.path}`);
}

function emptyPool(what: string): SpadeError {
  return new SpadeError("gate.emptyPool", `${what} was admitted, so there is no pool to train on. Look at the gates' evidence (spade gate), or use another model or folder.`);
}

/** Runs the gates on written programs; `record` appends them to the record. */
async function judgePrograms(iteration: number, programs: readonly PoolProgram[], deps: Dependencies): Promise<Pick<SampledWindow, "judged" | "record">> {
  const drafts = programs.map(({ id, skill, program }) => ({
    id,
    task: { id, skill, documentId: noDocument.id, documentText: noDocument.text, documentSource: noDocument.source, examples: [], exampleIds: [] },
    attempt: 0,
    response: program.source,
    extraction: { ok: true as const, program, repairs: [] },
    trajectory: { role: "designer" as const, arm: "plain" as const, segments: [] },
    tokens: 0,
  }));
  const designing = beginDesigning(iteration, drafts.length, [], deps);
  const designs = await Promise.all(drafts.map(async (draft) => ({ ...draft, admission: await judge(draft, designing, deps) })));
  return {
    judged: {
      admitted: designs.filter(isAdmitted).map((design) => ({ ...admittedProgram(design, deps), iteration })),
      rejected: designs.filter((design) => !isAdmitted(design)).map(({ id }) => id),
    },
    record: (writer) => recordDesigns(writer, { tasks: drafts.map(({ task }) => task), designs, hints: [], kinds: deps.kinds }),
  };
}

/** The environments that an iteration plays of a pool, and what was judged for it. */
interface Drawn extends Pick<SampledWindow, "judged" | "record"> {
  readonly environments: readonly WindowEnvironment[];
}

/** The environments that an iteration plays of the pool that iteration 0 made. */
export async function drawFromPool(beginning: Beginning, deps: Dependencies): Promise<Drawn> {
  const { config, store } = deps;
  invariant(config.environments.kind !== "selfplay", "self-play has no pool");
  const stored = [...storedEnvironments(store)].filter((environment) => environment.iteration === 0);
  const pool = config.environments.kind === "frozenPool" ? stored.slice(0, config.environments.size) : stored;
  const drawn = new Rng(deriveSeed(config.run.seed, beginning.iteration, "pool")).sample(pool, config.design.tasksPerIteration).map((environment) => windowEnvironment(environment, "pool"));
  return config.environments.kind === "adaptiveFolder" ? atLevels(beginning, drawn, deps) : { environments: drawn, judged: nothingJudged, record: () => undefined };
}

/**
 * Programs that take a difficulty, each at a level drawn from its range. A level is judged when it is first drawn; where the gates
 * reject it, the program is not played in the iterations that draw it.
 */
async function atLevels(beginning: Beginning, drawn: readonly WindowEnvironment[], deps: Dependencies): Promise<Drawn> {
  const { iteration, state, uncommitted } = beginning;
  const rng = new Rng(deriveSeed(deps.config.run.seed, iteration, "levels"));
  const variants = drawn.map(({ environment: { id, skill, program } }) => {
    const written = declaredDifficulty(program.source);
    if (written === undefined) return { id, skill, program };
    const { low, high } = state.levels?.[id] ?? firstRange(written);
    const level = { of: id, value: rng.int(low, high) };
    return { id: level.value === written ? id : `${id}@${level.value}`, skill, program: variantOf(program, level.value), level };
  });
  const known = [...knownEnvironments(beginning, deps)];
  const seen = new Set([...[...deps.store.rows("environments")].map(({ id }) => id), ...uncommitted.admitted.map(({ environment }) => environment.id), ...uncommitted.rejected]);
  const { judged, record } = await judgePrograms(iteration, variants.filter(({ id }) => !seen.has(id)), deps);
  const admitted = new Map([...known, ...judged.admitted].map((stored) => [stored.environment.id, windowEnvironment(stored, "pool")]));
  const environments = variants.flatMap(({ id, level }) => {
    const entry = admitted.get(id);
    return entry === undefined ? [] : [{ ...entry, ...(level === undefined ? {} : { level }) }];
  });
  return { environments, judged, record };
}

function variantOf({ language, source }: Program, level: number): Program {
  return { language, source: atDifficulty(source, level) };
}
