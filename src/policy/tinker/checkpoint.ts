import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, SpadeError } from "../../core/errors.ts";

const schema = z.strictObject({
  policyVersion: z.int(),
  tinker: z.strictObject({ path: z.string(), baseModel: z.string(), rank: z.int() }),
});

/** Where a version of the weights is kept on the server. */
export interface StoredWeights {
  readonly policyVersion: number;
  /** The server's name for the weights. */
  readonly path: string;
  readonly baseModel: string;
  readonly rank: number;
}

/** Writes what resuming needs into an existing directory. The weights themselves stay on the server. */
export async function writeCheckpoint(directory: string, { policyVersion, ...tinker }: StoredWeights): Promise<void> {
  const path = join(directory, "policy.json");
  await writeFile(`${path}.partial`, `${JSON.stringify({ policyVersion, tinker })}\n`);
  await rename(`${path}.partial`, path);
}

/** @throws SpadeError policy.checkpoint when it is missing, damaged, of another engine, or of another model */
export async function readCheckpoint(directory: string, expected: { readonly baseModel: string; readonly rank: number }): Promise<StoredWeights> {
  const path = join(directory, "policy.json");
  const fail = (what: string, cause?: unknown): SpadeError => new SpadeError("policy.checkpoint", `The checkpoint file ${path} ${what}. Use another checkpoint.`, { details: { path }, cause });
  let stored: z.output<typeof schema>;
  try {
    stored = schema.parse(JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    throw fail(`cannot be read as one of a Tinker server: ${messageOf(cause)}`, cause);
  }
  const { policyVersion, tinker } = stored;
  if (tinker.baseModel !== expected.baseModel || tinker.rank !== expected.rank) throw fail(`is of ${tinker.baseModel} with rank ${tinker.rank}, expected ${expected.baseModel} with rank ${expected.rank}`);
  return { policyVersion, ...tinker };
}
