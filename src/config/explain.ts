import { z } from "zod";
import { SpadeError } from "../core/errors.ts";
import type { Contradiction } from "./consistency.ts";
import { configSchema } from "./schema.ts";

type Issue = z.core.$ZodIssue;

/** The error for the first unknown key among `issues`, naming its path and the nearest known key; absent when there is none. */
export function unknownKey(source: string, issues: readonly Issue[]): SpadeError | undefined {
  for (const issue of issues) {
    const key = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    if (key === undefined) continue;
    const path = pathOf([...issue.path, key]);
    const known = keysAt(issue.path);
    const near = nearest(key, known);
    const remedy = near === undefined ? `Known here: ${known.join(", ")}.` : `Did you mean "${pathOf([...issue.path, near])}"?`;
    return new SpadeError("config.unknownKey", `Unknown key "${path}" in configuration "${source}". ${remedy} Correct or remove it.`, { details: { source, path, known } });
  }
  return undefined;
}

/** Each issue as a path and what is wrong there. */
export function describeIssues(issues: readonly Issue[]): readonly Contradiction[] {
  return issues.map((issue) => ({ path: pathOf(issue.path), message: issue.message.startsWith("missing") ? `is ${issue.message}` : `is wrong (${issue.message})` }));
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".");
}

/** Part of a JSON schema, as far as it is walked here. */
interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly oneOf?: readonly SchemaNode[];
  /** Of a list: what each item is. */
  readonly items?: SchemaNode;
}

/** Keys that an object at `path` may have, over all variants there. */
function keysAt(path: readonly PropertyKey[]): readonly string[] {
  let nodes: readonly SchemaNode[] = [z.toJSONSchema(configSchema, { io: "input" }) as SchemaNode];
  for (const key of path) {
    nodes = variants(nodes).flatMap((node) => (typeof key === "number" ? node.items : node.properties?.[String(key)]) ?? []);
  }
  return [...new Set(variants(nodes).flatMap((node) => Object.keys(node.properties ?? {})))];
}

function variants(nodes: readonly SchemaNode[]): readonly SchemaNode[] {
  return nodes.flatMap((node) => [node, ...variants(node.oneOf ?? [])]);
}

/** The candidate within half of the word's length in edits, if any. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
  const ranked = candidates.map((candidate) => ({ candidate, distance: editDistance(word.toLowerCase(), candidate.toLowerCase()) })).sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, word.length / 2) ? best.candidate : undefined;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
