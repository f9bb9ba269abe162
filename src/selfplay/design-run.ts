import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LoadedConfig, resolveConfig } from "../config/load.ts";
import { SpadeError } from "../core/errors.ts";
import type { ReadVariable } from "../http/secret.ts";
import { SamplingTasks } from "../policy/sampling-tasks.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import { RunStore } from "../storage/run-store.ts";
import { type AssembledDesign, assembleDesign } from "./assemble.ts";
import { corpusProvenance, refuseOtherCorpus } from "./corpus.ts";
import { designSet } from "./design-set.ts";
import type { Listener } from "./events.ts";
import { recordDesigns } from "./record.ts";
import { initialState } from "./state.ts";

interface Surroundings {
  readonly programVersion: string;
  readonly listener: Listener;
  readonly readVariable: ReadVariable;
}

/**
 * Designs, gates and records environments without training: a record like a run's, whose iterations are rounds of design tasks. What a round
 * made is committed when it is over; a start that fails leaves no record behind.
 * @throws SpadeError storage.*, policy.*, engine.*, corpus.*, sandbox.*
 */
export async function createDesigns(options: Surroundings & { readonly directory: string; readonly name: string; readonly loaded: LoadedConfig; readonly tasks: number; readonly provenance: Readonly<Record<string, unknown>> }): Promise<void> {
  const { directory, name, loaded, tasks, programVersion, provenance } = options;
  await using assembled = await assembleDesign(loaded.config, options);
  using store = RunStore.create(directory, { name, programVersion, config: loaded.config, configDigest: loaded.digest, provenance: { ...provenance, sandbox: assembled.isolation, corpus: corpusProvenance(assembled.parts.corpus), tasks } });
  await designRounds(store, { assembled, tasks }, options);
}

/** Goes on with designs that were interrupted, from the last round that was committed. @throws SpadeError usage.resume, and as `createDesigns` does */
export async function resumeDesigns(options: Surroundings & { readonly directory: string }): Promise<void> {
  const { directory, programVersion } = options;
  const { header, tasks } = readHeader(directory);
  if (tasks === undefined) throw new SpadeError("usage.resume", `${directory} is the record of a run, not of designs. Go on with it by: spade train --resume ${directory}`);
  await using assembled = await assembleDesign(resolveConfig(directory, header.config).config, options);
  refuseOtherCorpus(assembled.parts.corpus, header.provenance);
  using store = RunStore.open(directory, { programVersion });
  await designRounds(store, { assembled, tasks }, options);
}

/** Tasks that a record of designs was made for; absent for a run's. */
export function tasksOf({ header }: Pick<RunStore, "header">): number | undefined {
  const { tasks } = header.provenance;
  return typeof tasks === "number" ? tasks : undefined;
}

function readHeader(directory: string): { readonly header: RunStore["header"]; readonly tasks: number | undefined } {
  using store = RunStore.openReadOnly(directory);
  return { header: store.header, tasks: tasksOf(store) };
}

/** Designs the rounds that are missing in a record. */
async function designRounds(store: RunStore, { assembled, tasks }: { readonly assembled: AssembledDesign; readonly tasks: number }, { listener }: Surroundings): Promise<void> {
  const { parts, notes } = assembled;
  const rounds = roundsOf(tasks, parts.config.design.tasksPerIteration);
  const from = (store.lastIteration() ?? -1) + 1;
  listener({ kind: "start", directory: store.directory, iterations: rounds.length - 1, from, configDigest: store.header.configDigest, notes });
  for (const [round, count] of rounds.entries()) {
    if (round < from) continue;
    const toDesign = { iteration: round, prefix: String(round), count, state: { ...initialState, round }, known: storedEnvironments(store) };
    const set = await SamplingTasks.during((sampling) => designSet(toDesign, sampling, { ...parts, store }));
    const writer = store.beginIteration(round);
    recordDesigns(writer, { ...set, kinds: parts.kinds });
    writer.commit({ policyVersion: 0 });
    writePrograms(store, round);
  }
}

/** Tasks of each round; the last one takes what is left. */
function roundsOf(total: number, perRound: number): number[] {
  return Array.from({ length: Math.ceil(total / perRound) }, (_, round) => Math.min(perRound, total - round * perRound));
}

/** The admitted programs of a round as files, each with what the gates said of it; all of it is in the record too. */
function writePrograms(store: RunStore, iteration: number): void {
  const directory = join(store.directory, "programs");
  mkdirSync(directory, { recursive: true });
  const gates = Map.groupBy(store.rows("gateResults", { iteration }), ({ environmentId }) => environmentId);
  for (const { id, environment, iteration: born } of storedEnvironments(store)) {
    if (born !== iteration) continue;
    const { program, ...facts } = environment;
    const told = (gates.get(id) ?? []).map(({ gate, passed, code, message, evidence }) => ({ gate, passed, code, message, evidence }));
    writeFileSync(join(directory, `${id}.${program.language === "python" ? "py" : "ts"}`), program.source);
    writeFileSync(join(directory, `${id}.json`), `${JSON.stringify({ ...facts, gates: told }, null, 2)}\n`);
  }
}
