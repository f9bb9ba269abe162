import { globSync, readFileSync } from "node:fs";
import { basename, dirname, extname, join } from "node:path";
import type { Language, Program } from "../core/environment.ts";
import { SpadeError } from "../core/errors.ts";

/** A program of a folder. */
export interface PoolProgram {
  /** Its file's path within the folder. */
  readonly id: string;
  /** Name of the folder that holds the file. */
  readonly skill: string;
  readonly program: Program;
}

const languages: Readonly<Record<string, Language>> = { ".py": "python", ".ts": "typescript" };

/** The programs of a folder and the folders in it, by path. @throws SpadeError usage.pool when there is none */
export function readPrograms(folder: string): PoolProgram[] {
  const programs = globSync("**/*.{py,ts}", { cwd: folder }).sort().flatMap((id): PoolProgram[] => {
    const language = languages[extname(id)];
    const path = join(folder, id);
    return language === undefined ? [] : [{ id, skill: basename(dirname(path)), program: { language, source: readFileSync(path, "utf8").replaceAll("\r\n", "\n") } }];
  });
  if (programs.length === 0) throw new SpadeError("usage.pool", `The folder ${folder} holds no program (.py, .ts). Set environments.path to a folder of environment programs.`);
  return programs;
}
