import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LoadedConfig, resolveConfig } from "../config/load.ts";
import { SpadeError } from "../core/errors.ts";
import type { ReadVariable } from "../http/secret.ts";
import type { Spent } from "../policy/openai/spending.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import { RunStore } from "../storage/run-store.ts";
import { assembleDesign } from "./assemble.ts";
import type { Listener } from "./events.ts";
import { initialState } from "./state.ts";
import { designSet } from "./window.ts";

interface Surroundings {
  readonly programVersion: string;
  readonly listener: Listener;
  readonly readVariable: ReadVariable;
  /** Told after each round, and at the end whatever happened, what endpoints took in this process. */
  readonly onSpent?: (spent: Readonly<Partial<Record<"policy" | "advisor", Spent>>>) => void;
}

/**
 * Designs, gates and records environments without training: a record like a run's, whose iterations are rounds of design tasks. What a round
 * made is committed when it is over.
 * @throws SpadeError storage.*, policy.*, engine.*, corpus.*, sandbox.*
 */
export async function createDesigns(options: Surroundings & { readonly directory: string; readonly name: string; readonly loaded: LoadedConfig; readonly tasks: number; readonly provenance: Readonly<Record<string, unknown>> }): Promise<void> {
  const { directory, name, loaded, tasks, programVersion, provenance } = options;
  const store = RunStore.create(directory, { name, programVersion, config: loaded.config, configDigest: loaded.digest, provenance: { ...provenance, tasks } });
  await designAll(store, loaded, options);
}

/** Goes on with designs that were interrupted, from the last round that was committed. @throws as `createDesigns` does */
export async function resumeDesigns(options: Surroundings & { readonly directory: string }): Promise<void> {
  const { directory, programVersion } = options;
  const store = RunStore.open(directory, { programVersion });
  await designAll(store, resolveConfig(directory, store.header.config), options);
}

/** Tasks that a record of designs was made for; absent for a run's. */
export function tasksOf({ header }: RunStore): number | undefined {
  const { tasks } = header.provenance;
  return typeof tasks === "number" ? tasks : undefined;
}

async function designAll(store: RunStore, { config }: Pick<LoadedConfig, "config">, { onSpent, ...surroundings }: Surroundings): Promise<void> {
  try {
    const tasks = tasksOf(store);
    if (tasks === undefined) throw new SpadeError("usage.resume", `${store.directory} is the record of a run, not of designs. Go on with it by: spade train --resume ${store.directory}`);
    await using assembled = await assembleDesign(config, surroundings);
    const deps = { ...assembled.parts, store };
    const spent = (): void => onSpent?.(Object.fromEntries(Object.entries(assembled.spending).map(([name, spending]) => [name, spending.spent])));
    const rounds = roundsOf(tasks, config.design.tasksPerIteration);
    const from = (store.lastIteration() ?? -1) + 1;
    surroundings.listener({ kind: "start", directory: store.directory, iterations: rounds.length - 1, from, configDigest: store.header.configDigest, notes: assembled.notes });
    try {
      for (const [round, count] of rounds.entries()) {
        if (round < from) continue;
        const writer = store.beginIteration(round);
        await designSet({ iteration: round, prefix: String(round), tasks: count }, { ...initialState, round }, deps, writer);
        writer.commit({ policyVersion: 0 });
        writePrograms(store, round);
        spent();
      }
    } finally {
      spent();
    }
  } finally {
    store.close();
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
