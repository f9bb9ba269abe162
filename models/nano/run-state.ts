import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpadeError } from "../../src/core/errors.ts";

/** Where a pretraining run stands after a step. */
export interface RunPosition {
  /** Digest of recipe, tokenizer and data code version: a run never mixes two. */
  readonly recipe: string;
  readonly step: number;
  /** Phase of the recipe, from 0. */
  readonly phase: number;
  /** For each finished phase, the index after its last demonstration. */
  readonly ends: readonly number[];
  /** Index of the first demonstration of the next batch: the whole data order follows from it. */
  readonly next: number;
  readonly tokens: number;
  /** Tokens of the phase. */
  readonly phaseTokens: number;
  /** Training time so far, over all resumes, in milliseconds. */
  readonly elapsedMs: number;
}

/** What saves and loads weights with optimiser state; `EngineHost` does. */
export interface Weights {
  save(directory: string): Promise<void>;
  load(directory: string): Promise<void>;
}

const kept = 2;
const positionFile = "position.json";

async function checkpoints(state: string): Promise<string[]> {
  const names = await readdir(state).catch(() => []);
  return names.filter((name) => /^checkpoint-\d+$/u.test(name)).sort();
}

/** Writes a checkpoint beside the earlier ones and renames it into place, so that a kill leaves the last one whole. */
export async function saveCheckpoint(state: string, position: RunPosition, weights: Weights): Promise<void> {
  const name = `checkpoint-${String(position.step).padStart(8, "0")}`;
  const unfinished = join(state, `${name}.tmp`);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  await weights.save(unfinished);
  await writeFile(join(unfinished, positionFile), JSON.stringify(position));
  await rm(join(state, name), { recursive: true, force: true });
  await rename(unfinished, join(state, name));
  for (const old of (await checkpoints(state)).slice(0, -kept)) await rm(join(state, old), { recursive: true });
}

/** Loads the last checkpoint's weights; nothing when there is none. @throws usage.recipe when it was made by another recipe */
export async function loadCheckpoint(state: string, recipeDigest: string, weights: Weights): Promise<RunPosition | undefined> {
  const last = (await checkpoints(state)).at(-1);
  if (last === undefined) return undefined;
  const position = JSON.parse(await readFile(join(state, last, positionFile), "utf8")) as RunPosition;
  if (position.recipe !== recipeDigest) {
    const message = `The run in ${state} was made by recipe ${position.recipe}, this is recipe ${recipeDigest}. Give another --state directory, or remove that one.`;
    throw new SpadeError("usage.recipe", message, { details: { state } });
  }
  await weights.load(join(state, last));
  return position;
}

/** The loss curve of a run: one JSON object a line, with its `step`. */
export class LossCurve {
  readonly #path: string;

  constructor(state: string) {
    this.#path = join(state, "loss.jsonl");
  }

  async append(point: { readonly step: number } & Readonly<Record<string, number>>): Promise<void> {
    await appendFile(this.#path, `${JSON.stringify(point)}\n`);
  }

  /** Drops the points after `step`: a resumed run makes them again. */
  async rewind(step: number): Promise<void> {
    const lines = (await readFile(this.#path, "utf8").catch(() => "")).split("\n");
    const isKept = (line: string): boolean => {
      try {
        return (JSON.parse(line) as { step: number }).step <= step;
      } catch {
        return false;
      }
    };
    await writeFile(this.#path, lines.filter(isKept).map((line) => `${line}\n`).join(""));
  }
}
