import { join } from "node:path";
import { z } from "zod";
import { readGoodBank, readPrograms } from "../good-bank.ts";
import type { MutantBase } from "./trial.ts";

const suiteSchema = z.object({ programs: z.array(z.object({ file: z.string().regex(/^[\w-]+\.py$/) })).min(1) });

/**
 * Reads the programs of `good`, `heldout` and `easy` in a folder, named `suite/file`, without those that only the foreign profile admits.
 * @throws gate.bank when a manifest or program cannot be read
 */
export function readBank(environments: string): MutantBase[] {
  const good = readGoodBank(join(environments, "good")).filter(({ profile }) => profile === "own");
  return [...good.map(({ file, program, document }) => ({ name: `good/${file}`, program, document })), ...readSuite(environments, "heldout"), ...readSuite(environments, "easy")];
}

function readSuite(environments: string, suite: string): MutantBase[] {
  return readPrograms("suite", join(environments, suite), suiteSchema).map(({ file, source }) => ({ name: `${suite}/${file}`, program: { language: "python", source } }));
}
