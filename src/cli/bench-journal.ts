import { appendFileSync, existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalJson, sha256 } from "../core/digest.ts";
import { SpadeError } from "../core/errors.ts";
import type { VerdictJournal } from "../gates/mutants/bench.ts";

/** What a bench's verdicts follow from besides its options, relative to the package: gates, sandbox, programs. */
const sources = ["src/core/**/*.ts", "src/designer/extract.ts", "src/gates/**/*.ts", "src/sandbox/**/*.{ts,py}", "environments/**/*.{py,ts,json}"];

/**
 * Opens a file in which a bench keeps its verdicts, one JSON line each, so that one that was ended goes on where it was.
 * @throws usage.resume when the file is of other options, or of other code
 */
export function openJournal(path: string, root: string, options: object): VerdictJournal {
  const files = globSync(sources, { cwd: root }).filter((name) => !/\.test\.ts$/.test(name)).sort();
  const digest = sha256(canonicalJson([options, files.map((name) => [name, sha256(readFileSync(join(root, name), "utf8"))])]));
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify({ digest })}\n`);
  const [head = "", ...lines] = readFileSync(path, "utf8").split("\n");
  if (head !== JSON.stringify({ digest })) throw new SpadeError("usage.resume", `${path} is no journal of a bench with these options, gates, sandbox and programs. Give another file, or remove it.`);
  // A last line that was cut off is made again.
  const known = new Map(lines.slice(0, -1).map((line) => JSON.parse(line) as readonly [string, unknown]));
  if (lines.at(-1) !== "") writeFileSync(path, [head, ...lines.slice(0, -1), ""].join("\n"));
  return {
    get: (key) => known.get(key),
    put: (key, verdict) => {
      appendFileSync(path, `${JSON.stringify([key, verdict])}\n`);
    },
  };
}
