import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, SpadeError } from "../core/errors.ts";
import type { ProgramKinds } from "./dependencies.ts";

const schema = z.strictObject({
  version: z.literal(1),
  /** Twelve hexadecimal digits of each demonstration's skeleton digest, sorted, without separator. */
  skeletons: z.string().regex(/^([0-9a-f]{12})*$/),
  /** Per family: weight of each shingle, the share of the family's demonstrations that have it. */
  families: z.record(z.string(), z.record(z.string(), z.number())),
});

/** File of a model's directory that tells what its demonstrations looked like. */
export const demonstrationsFile = "demonstrations.json";

const digits = 12;
/** A program less similar than this to every family is new. */
const minSimilarity = 0.35;

/**
 * Reads what a model's demonstrations looked like. A model without the file knows no families: each skeleton is its own.
 * @throws SpadeError policy.demonstrations when the file is malformed
 */
export function loadProgramKinds(modelDirectory: string | undefined): ProgramKinds {
  const path = join(modelDirectory ?? "", demonstrationsFile);
  if (modelDirectory === undefined || !existsSync(path)) return { family: ({ skeleton }) => skeleton.slice(0, digits), isNovel: () => undefined };
  const known = read(path);
  const skeletons = new Set(known.skeletons.match(/.{12}/g));
  const families = Object.entries(known.families).map(([name, weights]) => {
    const entries = Object.entries(weights).map(([shingle, weight]) => [Number(shingle), weight] as const);
    return { name, weights: new Map(entries), norm: Math.hypot(...entries.map(([, weight]) => weight)) || 1 };
  });
  return {
    isNovel: (skeleton) => !skeletons.has(skeleton.slice(0, digits)),
    family: ({ shingles }) => {
      const best = families
        .map(({ name, weights, norm }) => ({ name, similarity: shingles.reduce((sum, shingle) => sum + (weights.get(shingle) ?? 0), 0) / (norm * Math.sqrt(shingles.length || 1)) }))
        .sort((a, b) => b.similarity - a.similarity)[0];
      return best === undefined || best.similarity < minSimilarity ? "new" : best.name;
    },
  };
}

function read(path: string): z.output<typeof schema> {
  try {
    return schema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw new SpadeError("policy.demonstrations", `${path} cannot be read: ${messageOf(cause)}. Restore it with the model, or delete it to run without family names.`, { cause });
  }
}
