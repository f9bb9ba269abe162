import { join } from "node:path";
import { z } from "zod";
import type { Program } from "../../core/environment.ts";
import { readGoodBank, readPrograms } from "../good-bank.ts";

/** A program that the gates must admit, and from which mutants are made. */
export interface BankProgram {
  /** `suite/file`. */
  readonly name: string;
  readonly program: Program;
  /** Grounding document; absent: gate `grounded` is off. */
  readonly document?: string;
}

const suiteSchema = z.object({ programs: z.array(z.object({ file: z.string().regex(/^[\w-]+\.py$/) })).min(1) });

/**
 * Reads the programs of `good`, `heldout` and `easy` in a folder; those of `good` that only the foreign profile admits are left out
 * unless they are asked for.
 * @throws gate.bank when a manifest or program cannot be read
 */
export function readBank(environments: string, { foreign = false }: { readonly foreign?: boolean } = {}): BankProgram[] {
  const good = readGoodBank(join(environments, "good")).filter(({ profile }) => foreign || profile === "own");
  return [...good.map(({ file, program, document }) => ({ name: `good/${file}`, program, document })), ...readSuite(environments, "heldout"), ...readSuite(environments, "easy")];
}

function readSuite(environments: string, suite: string): BankProgram[] {
  return readPrograms("suite", join(environments, suite), suiteSchema).map(({ file, source }) => ({ name: `${suite}/${file}`, program: { language: "python", source } }));
}
