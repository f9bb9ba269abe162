import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { messageOf, SpadeError } from "../core/errors.ts";

const manifestSchema = z.object({
  programs: z
    .array(
      z.object({
        file: z.string().regex(/^[\w-]+\.(py|ts)$/),
        language: z.enum(["python", "typescript"]),
        skill: z.string(),
        kind: z.enum(["boxed", "interactive", "tool-use"]),
        profile: z.enum(["own", "foreign"]),
        title: z.string(),
        document: z.string(),
      }),
    )
    .min(1),
});

/** A hand-written program that every gate of its profile must admit. */
export interface GoodProgram extends Omit<z.infer<typeof manifestSchema>["programs"][number], "language"> {
  readonly program: { readonly language: "python" | "typescript"; readonly source: string };
}

/**
 * Reads the good bank: `manifest.json` and the programs it names. `profile` is `foreign` where `solution()` is prose.
 * @throws gate.bank when the manifest or a program cannot be read.
 */
export function readGoodBank(directory: string): GoodProgram[] {
  return readPrograms("good bank", directory, manifestSchema).map(({ language, source, ...entry }) => ({ ...entry, program: { language, source } }));
}

/**
 * What a folder's `manifest.json` says of each program, with its source. `what` names the folder in errors.
 * @throws gate.bank when the manifest or a program cannot be read.
 */
export function readPrograms<Entry extends { readonly file: string }>(what: string, directory: string, schema: z.ZodType<{ readonly programs: readonly Entry[] }>): (Entry & { readonly source: string })[] {
  try {
    const { programs } = schema.parse(JSON.parse(readFileSync(join(directory, "manifest.json"), "utf8")));
    return programs.map((entry) => ({ ...entry, source: readFileSync(join(directory, entry.file), "utf8") }));
  } catch (cause) {
    throw new SpadeError("gate.bank", `Cannot read the ${what} in ${directory}: ${messageOf(cause)}. Expected a manifest.json that names readable programs.`, { cause });
  }
}
