import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, SpadeError } from "../core/errors.ts";
import type { Loss, Optimiser, Trainer, UpdateMetrics } from "../policy/policy.ts";

type Batch = Parameters<Trainer["update"]>[0];

/**
 * Updates, and saves the batch beside the record when that fails, since the rows of an unfinished iteration are not in it. The error then
 * names the file. @throws what the trainer throws
 */
export async function updateOrSave(trainer: Trainer, what: { readonly batch: Batch; readonly loss: Loss; readonly optimiser: Optimiser }, place: { readonly directory: string; readonly iteration: number }): Promise<UpdateMetrics> {
  try {
    return await trainer.update(what.batch, what.loss, what.optimiser);
  } catch (error) {
    if (!(error instanceof SpadeError)) throw error;
    const path = join(place.directory, `failed-update-${place.iteration}.json`);
    const saved = save(path, { policyVersion: trainer.policyVersion, error: { code: error.code, message: error.message }, ...what });
    throw new SpadeError(error.code, `${error.message} ${saved}`, { details: { ...error.details, batch: path }, cause: error });
  }
}

/** Writes the batch; says where it is, or why it is not there. */
function save(path: string, content: object): string {
  try {
    writeFileSync(path, JSON.stringify(content, plain));
    return `The batch is in ${path}.`;
  } catch (error) {
    return `The batch could not be saved in ${path}: ${messageOf(error)}.`;
  }
}

/** Arrays of numbers as lists, and numbers that JSON has no form for as text. */
function plain(_key: string, value: unknown): unknown {
  if (value instanceof Float32Array || value instanceof Int32Array) return [...value];
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
