import { join } from "node:path";
import { z } from "zod";
import { readGoodBank, readPrograms } from "../good-bank.ts";
import type { MutantBase } from "./trial.ts";

const suiteSchema = z.object({ programs: z.array(z.object({ file: z.string().regex(/^[\w-]+\.py$/) })).min(1) });

/**
 * Reads the programs of `good` and `easy` in a folder, named `suite/file`; those of `good` that only the foreign profile admits are left
 * out unless they are asked for. The held-out battery is not among them: it is made for measuring, with tasks of few options that a
 * trivial policy often wins.
 * @throws gate.bank when a manifest or program cannot be read
 */
export function readBank(environments: string, { foreign = false }: { readonly foreign?: boolean } = {}): MutantBase[] {
  const good = readGoodBank(join(environments, "good")).filter(({ profile }) => foreign || profile === "own");
  return [...good.map(({ file, program, document }) => ({ name: `good/${file}`, program, document })), ...readEasy(environments)];
}

function readEasy(environments: string): MutantBase[] {
  return readPrograms("suite", join(environments, "easy"), suiteSchema).map(({ file, source }) => ({ name: `easy/${file}`, program: { language: "python", source } }));
}
