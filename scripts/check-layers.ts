/** Checks that imports between the folders of src/ follow layers.json (invariant 13). */
import { readFileSync, globSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";

interface Layers {
  readonly layers: readonly (readonly string[])[];
  readonly siblings: Readonly<Record<string, readonly string[]>>;
  readonly unreachable: { readonly from: readonly string[]; readonly to: readonly string[] };
}

const rules = JSON.parse(readFileSync("layers.json", "utf8")) as Layers;
const layerOf = new Map(rules.layers.flatMap((folders, layer) => folders.map((folder) => [folder, layer] as const)));
const problems: string[] = [];
const edges = new Map<string, Set<string>>();

for (const file of globSync("src/**/*.ts").sort()) {
  const from = folderOf(file);
  const isTest = file.endsWith(".test.ts");
  for (const target of localImports(file)) {
    const to = folderOf(target);
    if (from === to) continue;
    if (!isTest) edges.set(from, (edges.get(from) ?? new Set()).add(to));
    checkEdge(file, from, to, isTest);
  }
}
for (const from of rules.unreachable.from) {
  const reached = reach(from);
  for (const to of rules.unreachable.to) if (reached.has(to)) problems.push(`src/${from} can reach src/${to}, which layers.json forbids`);
}
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log(`layers: ${layerOf.size} folders, imports follow layers.json`);

function folderOf(file: string): string {
  return normalize(file).split(sep)[1] ?? "";
}

function localImports(file: string): string[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+)"/g)]
    .map((match) => join(dirname(file), match[1] ?? ""))
    .filter((target) => target.startsWith(`src${sep}`));
}

function checkEdge(file: string, from: string, to: string, isTest: boolean): void {
  const [low, high] = [layerOf.get(to), layerOf.get(from)];
  if (low === undefined || high === undefined) problems.push(`${file}: folder "${low === undefined ? to : from}" is not in layers.json`);
  else if (low > high) problems.push(`${file}: src/${from} (layer ${high}) must not import src/${to} (layer ${low})`);
  else if (low === high && !isTest && !(rules.siblings[from] ?? []).includes(to)) {
    problems.push(`${file}: src/${from} must not import its sibling src/${to}`);
  }
}

function reach(start: string): Set<string> {
  const seen = new Set<string>();
  const queue = [start];
  for (let folder = queue.pop(); folder !== undefined; folder = queue.pop()) {
    for (const next of edges.get(folder) ?? []) {
      if (!seen.has(next)) queue.push(next);
      seen.add(next);
    }
  }
  return seen;
}
