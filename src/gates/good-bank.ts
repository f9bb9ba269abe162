import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { SpadeError } from "../core/errors.ts";

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
  const path = join(directory, "manifest.json");
  try {
    const { programs } = manifestSchema.parse(JSON.parse(readFileSync(path, "utf8")));
    return programs.map(({ language, ...entry }) => ({ ...entry, program: { language, source: readFileSync(join(directory, entry.file), "utf8") } }));
  } catch (error) {
    throw new SpadeError("gate.bank", `Cannot read the good bank in ${directory}: ${error instanceof Error ? error.message : "unknown"}. Expected a manifest.json that names readable programs.`, { cause: error });
  }
}
