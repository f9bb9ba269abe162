import type { Program } from "../core/environment.ts";
import { noDocument } from "../core/environment.ts";
import { invariant, SpadeError } from "../core/errors.ts";
import { deriveSeed, Rng } from "../core/seed.ts";
import { atDifficulty, declaredDifficulty, firstRange } from "../curriculum/difficulty.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import type { Dependencies } from "./dependencies.ts";
import { admittedEnvironments, isAdmitted, judge } from "./design.ts";
import type { Window, WindowEnvironment } from "./measure.ts";
import { packagePath } from "./paths.ts";
import { type PoolProgram, readPrograms } from "./pool-folder.ts";
import { recordDesigns } from "./record.ts";
import type { LoopState } from "./state.ts";
import { designSet, storedWindowEnvironment, windowEnvironment } from "./window.ts";

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
      const { admitted } = await designSet({ iteration: 0, prefix: `pool${round}` }, { ...before, round }, deps, writer);
      size += admitted.length;
    }
    if (size === 0) throw emptyPool(`None of the designs of ${maxRounds} rounds`);
    return;
  }
  const programs = readPrograms(packagePath(environments.path));
  const admitted = await judgePrograms(0, programs, deps, writer);
  deps.listener({ kind: "notice", text: `pool: ${admitted.length} of the ${programs.length} programs of ${environments.path} were admitted` });
  if (admitted.length === 0) throw emptyPool(`None of the ${programs.length} programs of ${environments.path}`);
}

function emptyPool(what: string): SpadeError {
  return new SpadeError("gate.emptyPool", `${what} was admitted, so there is no pool to train on. Look at the gates' evidence (spade gate), or use another model or folder.`);
}

/** Runs the gates on written programs and appends them to the record; the admitted ones. */
async function judgePrograms(iteration: number, programs: readonly PoolProgram[], deps: Dependencies, writer: IterationWriter): Promise<WindowEnvironment[]> {
  const drafts = programs.map(({ id, skill, program }) => ({
    id,
    task: { id, skill, documentId: noDocument.id, documentText: noDocument.text, documentSource: noDocument.source, examples: [], exampleIds: [] },
    attempt: 0,
    response: program.source,
    extraction: { ok: true as const, program, repairs: [] },
    trajectory: { role: "designer" as const, arm: "plain" as const, segments: [] },
    tokens: 0,
  }));
  const designs = await judge(iteration, { drafts, archive: [] }, deps);
  recordDesigns(writer, { tasks: drafts.map(({ task }) => task), designs, hints: [], kinds: deps.kinds });
  return admittedEnvironments(designs.filter(isAdmitted), []).map((design) => ({ ...windowEnvironment(design, deps), origin: "pool" }));
}

/** The environments that an iteration plays of the pool that iteration 0 made. */
export async function drawFromPool(iteration: number, state: LoopState, deps: Dependencies, writer: IterationWriter): Promise<Window> {
  const { config, store } = deps;
  invariant(config.environments.kind !== "selfplay", "self-play has no pool");
  const stored = [...storedEnvironments(store)].filter((environment) => environment.iteration === 0);
  const pool = config.environments.kind === "frozenPool" ? stored.slice(0, config.environments.size) : stored;
  const drawn = new Rng(deriveSeed(config.run.seed, iteration, "pool")).sample(pool, config.design.tasksPerIteration).map((environment) => storedWindowEnvironment(environment, "pool"));
  const environments = config.environments.kind === "adaptiveFolder" ? await atLevels(iteration, { drawn, state }, deps, writer) : drawn;
  return { bornAt: iteration, environments, rejected: [] };
}

/**
 * Programs that take a difficulty, each at a level drawn from its range. A level is judged when it is first drawn; where the gates
 * reject it, the program is not played in the iterations that draw it.
 */
async function atLevels(iteration: number, { drawn, state }: { readonly drawn: readonly WindowEnvironment[]; readonly state: LoopState }, deps: Dependencies, writer: IterationWriter): Promise<WindowEnvironment[]> {
  const rng = new Rng(deriveSeed(deps.config.run.seed, iteration, "levels"));
  const variants = drawn.map(({ environment: { id, skill, program } }) => {
    const written = declaredDifficulty(program.source);
    if (written === undefined) return { id, skill, program };
    const { low, high } = state.levels?.[id] ?? firstRange(written);
    const level = { of: id, value: rng.int(low, high) };
    return { id: level.value === written ? id : `${id}@${level.value}`, skill, program: variantOf(program, level.value), level };
  });
  const judged = new Set([...deps.store.rows("environments")].map(({ id }) => id));
  const fresh = await judgePrograms(iteration, variants.filter(({ id }) => !judged.has(id)), deps, writer);
  const stored = [...storedEnvironments(deps.store)].map((environment) => storedWindowEnvironment(environment, "pool"));
  const admitted = new Map([...stored, ...fresh].map((entry) => [entry.environment.id, entry]));
  return variants.flatMap(({ id, level }) => {
    const entry = admitted.get(id);
    return entry === undefined ? [] : [{ ...entry, ...(level === undefined ? {} : { level }) }];
  });
}

function variantOf({ language, source }: Program, level: number): Program {
  return { language, source: atDifficulty(source, level) };
}
