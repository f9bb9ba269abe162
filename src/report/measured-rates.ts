import { statSync } from "node:fs";
import { join } from "node:path";
import type { RunStore } from "../storage/run-store.ts";
import type { Row } from "../storage/tables.ts";
import { mean } from "./iteration-metrics.ts";
import type { Rates } from "./plan.ts";

/** Tokens of one trajectory. */
interface Lengths {
  given: number;
  sampled: number;
  /** What each sampled segment was sampled after, added up. */
  read: number;
}

/** The rates that a run's record shows; speeds only where its stages were timed, which they are since plans exist. */
export function measuredRates(store: RunStore): Rates {
  const trained = store.iterations().filter(({ iteration }) => iteration > 0);
  const candidates = [...store.rows("environments")].filter(({ iteration }) => iteration > 0);
  const admitted = candidates.filter((row) => row.admitted);
  const credited = [...store.rows("advantages")];
  const agents = credited.filter(({ role }) => role === "agent");
  const lengths = trajectoryLengths(store);
  const all = [...lengths.values()].flatMap((byId) => [...byId.values()]);
  const stored = all.reduce((sum, { given, sampled }) => sum + given + sampled, 0);
  const column = (owner: string, key: keyof Lengths): number | undefined => mean([...(lengths.get(owner)?.values() ?? [])].map((row) => row[key]));
  return drop({
    admittedShare: candidates.length === 0 ? undefined : admitted.length / candidates.length,
    hintShare: admitted.length === 0 ? undefined : admitted.filter(({ hint }) => hint !== undefined).length / admitted.length,
    keptShare: mean(agents.map(({ kept }) => Number(kept))),
    designPromptTokens: column("design", "given"),
    designTokens: column("design", "sampled"),
    hintPromptTokens: column("hint", "given"),
    hintTokens: column("hint", "sampled"),
    episodePromptTokens: column("episode", "given"),
    episodeReadTokens: column("episode", "read"),
    episodeTokens: column("episode", "sampled"),
    ...speeds({ trained, candidates: candidates.length, credited, lengths }),
    bytesPerToken: stored === 0 ? undefined : statSync(join(store.directory, "run.sqlite")).size / stored,
  });
}

/** Lengths by owner and id, of the iterations that train. */
function trajectoryLengths(store: RunStore): Map<string, Map<string, Lengths>> {
  const byOwner = new Map<string, Map<string, Lengths>>();
  for (const { iteration, owner, ownerId, kind, tokens } of store.rows("segments")) {
    if (iteration === 0) continue;
    const byId = byOwner.get(owner) ?? new Map<string, Lengths>();
    byOwner.set(owner, byId);
    const entry = byId.get(ownerId) ?? { given: 0, sampled: 0, read: 0 };
    byId.set(ownerId, entry);
    if (kind === "sampled") {
      entry.read += entry.given + entry.sampled;
      entry.sampled += tokens.length;
    } else entry.given += tokens.length;
  }
  return byOwner;
}

interface Measured {
  readonly trained: ReturnType<RunStore["iterations"]>;
  readonly candidates: number;
  readonly credited: readonly Row<"advantages">[];
  readonly lengths: ReturnType<typeof trajectoryLengths>;
}

function speeds({ trained, candidates, credited, lengths }: Measured): { readonly [K in keyof Rates]?: number | undefined } {
  const timings = trained.flatMap(({ timing }) => (timing?.["playMs"] === undefined ? [] : [timing]));
  if (timings.length === 0 || timings.length < trained.length) return {};
  const seconds = (...names: readonly string[]): number => timings.reduce((sum, timing) => sum + names.reduce((own, name) => own + (timing[name] ?? 0), 0), 0) / 1000;
  const sampled = (owner: string): number => [...(lengths.get(owner)?.values() ?? [])].reduce((sum, row) => sum + row.sampled, 0);
  const over = (amount: number, time: number): number | undefined => (amount > 0 && time > 0 ? amount / time : undefined);
  const rows = credited.filter(({ kept, advantage }) => kept && advantage !== 0);
  const rowTokens = rows.reduce((sum, { role, subjectId }) => {
    const row = lengths.get(role === "agent" ? "episode" : "design")?.get(subjectId);
    return sum + (row === undefined ? 0 : row.given + row.sampled);
  }, 0);
  return {
    designTokensPerSecond: over(sampled("design") + sampled("hint"), seconds("designMs", "hintsMs")),
    episodeTokensPerSecond: over(sampled("episode"), seconds("playMs")),
    trainedTokensPerSecond: over(rowTokens, seconds("updateMs")),
    gateSecondsPerCandidate: candidates === 0 ? undefined : seconds("gatesMs", "mutantsMs") / candidates,
    // Stages overlap where the policy is a concurrent one.
    otherSecondsPerIteration: Math.max(0, seconds("totalMs") - seconds("designMs", "hintsMs", "gatesMs", "mutantsMs", "playMs", "updateMs", "evaluateMs")) / timings.length,
  };
}

function drop(rates: { readonly [K in keyof Rates]?: number | undefined }): Rates {
  return Object.fromEntries(Object.entries(rates).filter(([, value]) => value !== undefined));
}
