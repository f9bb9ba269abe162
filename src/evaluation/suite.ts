import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { Program } from "../core/environment.ts";
import { canonicalJson, sha256 } from "../core/digest.ts";
import { messageOf, SpadeError } from "../core/errors.ts";

/** One hand-written program of a suite. */
export interface SuiteProgram {
  readonly file: string;
  readonly skill: string;
  /** Difficulty within the skill, from 1. */
  readonly level: number;
  readonly title: string;
  readonly program: Program;
}

/** A fixed set of programs that no training sees. */
export interface Suite {
  readonly name: string;
  readonly version: number;
  /** Digest of the manifest and all sources: scores of different digests cannot be compared. */
  readonly digest: string;
  readonly programs: readonly SuiteProgram[];
}

const manifestSchema = z.strictObject({
  suite: z.string().min(1),
  version: z.number().int().min(1),
  programs: z
    .array(z.strictObject({ file: z.string().regex(/^[\w-]+\.py$/), skill: z.string().min(1), level: z.number().int().min(1), title: z.string().min(1) }))
    .min(1),
});

/**
 * Reads a suite: `manifest.json` and the Python files it names.
 * @throws `usage.suite` naming the file when the manifest or a program is missing or malformed.
 */
export async function loadSuite(directory: string): Promise<Suite> {
  const path = join(directory, "manifest.json");
  const manifest = manifestSchema.safeParse(parseJson(await read(path), path));
  if (!manifest.success) {
    throw new SpadeError("usage.suite", `The suite manifest ${path} is malformed: ${z.prettifyError(manifest.error)}. Correct it or restore it from the repository.`);
  }
  const { suite, version, programs } = manifest.data;
  const repeated = programs.find(({ file }, i) => programs.findIndex((other) => other.file === file) !== i);
  if (repeated !== undefined) throw new SpadeError("usage.suite", `The suite manifest ${path} names ${repeated.file} twice; name each program once.`);
  const loaded = await Promise.all(
    programs.map(async (entry): Promise<SuiteProgram> => ({ ...entry, program: { language: "python", source: await read(join(directory, entry.file)) } })),
  );
  return { name: suite, version, digest: sha256(canonicalJson({ suite, version, loaded })), programs: loaded };
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new SpadeError("usage.suite", `The suite file ${path} cannot be read: ${messageOf(cause)}. Check the directory given.`, { cause });
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SpadeError("usage.suite", `The suite manifest ${path} is not JSON: ${messageOf(cause)}. Correct it or restore it from the repository.`, { cause });
  }
}
