import { SpadeError } from "../../core/errors.ts";
import { flatten } from "../../core/trajectory.ts";
import type { Loss, TrainingRow, UpdateMetrics } from "../policy.ts";
import { nonFinite } from "./failures.ts";
import { lossScale, type ServerProfile } from "./profile.ts";
import type { Datum } from "./wire.ts";

type PolicyGradient = Extract<Loss, { kind: "policyGradient" }>;

/** A row laid out for the server. All arrays have shape [N] with N one less than the trajectory's length; entry t speaks of token t + 1. */
export interface PreparedRow {
  readonly row: TrainingRow;
  readonly tokens: Int32Array;
  readonly targets: Int32Array;
  /** 1 where the target was sampled. */
  readonly mask: Uint8Array;
  /** The sampler's log-probability where `mask` is 1. */
  readonly sampler: Float32Array;
  /** Targets that were sampled. */
  readonly sampled: number;
}

/** Lays out and checks a row. @throws SpadeError policy.nonFinite, policy.row, policy.samplingMismatch, policy.contextLength */
export function prepareRow(row: TrainingRow, contextLength: number): PreparedRow {
  const { tokens, mask, logprobs } = flatten(row.trajectory);
  const complain = (what: string): never => {
    throw new SpadeError("policy.row", `A training row is invalid: ${what}. Correct the row.`);
  };
  if (tokens.length > contextLength) throw new SpadeError("policy.contextLength", `A training row has ${tokens.length} tokens, expected at most ${contextLength} (the model's context). Shorten or drop the row.`);
  if (mask[0] === 1) complain("its first token is marked as sampled, but nothing precedes it");
  if (!Number.isFinite(row.advantage)) throw nonFinite(`A row's advantage is ${row.advantage}`);
  if (!Number.isFinite(row.weight) || row.weight < 0) complain(`its weight is ${row.weight}, expected a finite number of at least 0`);
  const sampled = mask.reduce((sum, bit) => sum + bit, 0);
  if (sampled === 0) complain("none of its tokens was sampled");
  logprobs.forEach((value, t) => {
    if (!Number.isFinite(value)) throw nonFinite(`The sampler's log-probability of token ${t} of a row is ${value}`);
  });
  return { row, tokens: tokens.slice(0, -1), targets: tokens.slice(1), mask: mask.slice(1), sampler: logprobs.slice(1), sampled };
}

/** Refuses rows that the server's loss does not model: it knows temperature 1 only. @throws SpadeError policy.samplingMismatch */
export function refuseTemperature({ temperature }: TrainingRow): void {
  if (temperature === 1) return;
  throw new SpadeError("policy.samplingMismatch", `A row was sampled at temperature ${temperature}, but Tinker servers train the distribution of temperature 1. Sample trained roles at temperature 1, or set allowSamplingMismatch.`);
}

/** Datum whose log-probabilities are wanted and nothing else. */
export function forwardDatum({ tokens, targets, mask }: PreparedRow): Datum {
  return { tokens, targets, inputs: { weights: Float32Array.from(mask) } };
}

/** Datum of the cross-entropy of sampled tokens, before scaling. */
export function imitationDatum({ row, tokens, targets, mask }: PreparedRow): Datum {
  return { tokens, targets, inputs: { weights: Float32Array.from(mask, (bit) => bit * row.weight) } };
}

/**
 * Datum of the clipped policy gradient around the trainer's log-probabilities before the update, `old`; the truncated importance weight
 * min(cap, exp(old - sampler)) and the row's share enter through the advantages, which is all that the server's loss offers.
 */
export function policyDatum(prepared: PreparedRow, old: Float32Array, loss: PolicyGradient): Datum {
  const { row, tokens, targets, mask } = prepared;
  const advantages = Float32Array.from(mask, (bit, t) => (bit === 1 ? row.advantage * importance(prepared, old, loss, t) : 0));
  return { tokens, targets, inputs: { logprobs: Float32Array.from(mask, (bit, t) => (bit === 1 ? at(old, t) : 0)), advantages } };
}

/** Scales the losses of an optimiser step's requests so that the server's reduction gives Σ weight·loss / Σ weight over sampled tokens. Mutates nothing. */
export function scaleStep(requests: readonly (readonly { readonly datum: Datum; readonly prepared: PreparedRow }[])[], reduction: ServerProfile["reduction"], name: "advantages" | "weights"): Datum[][] {
  const all = requests.flat();
  const totalWeight = weightOf(all.map(({ prepared }) => prepared));
  return requests.map((request) => {
    const requestPositions = request.reduce((sum, { datum }) => sum + datum.tokens.length, 0);
    return request.map(({ datum, prepared }) => {
      const weight = name === "weights" ? 1 : prepared.row.weight;
      const scale = lossScale(reduction, { weight, positions: datum.tokens.length, totalWeight, datums: all.length, requestPositions });
      return { ...datum, inputs: { ...datum.inputs, [name]: datum.inputs[name]?.map((value) => value * scale) ?? new Float32Array() } };
    });
  });
}

/** Loss and clipping of one optimiser step, from the log-probabilities that its backward pass saw. */
export function stepLoss(rows: readonly PreparedRow[], seen: { readonly now: readonly Float32Array[]; readonly old: readonly Float32Array[] }, loss: Loss): { readonly loss: number; readonly clipped: number } {
  let [total, clipped] = [0, 0];
  rows.forEach((prepared, i) => {
    const [now, old] = [seen.now[i] ?? new Float32Array(), seen.old[i] ?? new Float32Array()];
    const { advantage, weight } = prepared.row;
    for (const t of sampledTargets(prepared)) {
      if (loss.kind === "crossEntropy") {
        total -= weight * at(now, t);
        continue;
      }
      const ratio = Math.exp(at(now, t) - at(old, t));
      const bounded = Math.min(1 + loss.clipHigh, Math.max(1 - loss.clipLow, ratio));
      total -= weight * importance(prepared, old, loss, t) * Math.min(ratio * advantage, bounded * advantage);
      if (advantage > 0 ? ratio > 1 + loss.clipHigh : advantage < 0 && ratio < 1 - loss.clipLow) clipped += 1;
    }
  });
  return { loss: total / weightOf(rows), clipped };
}

/** Sampler against trainer before the first step. */
export function compare(rows: readonly PreparedRow[], old: readonly Float32Array[]): Pick<UpdateMetrics, "entropy" | "kl" | "logprobGap" | "tokens"> {
  const roles = new Map<string, { entropy: number; kl: number; count: number }>();
  let [logprobGap, tokens] = [0, 0];
  rows.forEach((prepared, i) => {
    const own = roles.get(prepared.row.trajectory.role) ?? { entropy: 0, kl: 0, count: 0 };
    roles.set(prepared.row.trajectory.role, own);
    for (const t of sampledTargets(prepared)) {
      const trainer = at(old[i] ?? new Float32Array(), t);
      const difference = trainer - at(prepared.sampler, t);
      logprobGap = Math.max(logprobGap, Math.abs(difference));
      own.entropy -= trainer;
      own.kl += Math.expm1(difference) - difference;
      own.count += 1;
    }
    tokens += prepared.sampled;
  });
  const means = (key: "entropy" | "kl"): Record<string, number> => Object.fromEntries([...roles].map(([role, own]) => [role, own[key] / own.count]));
  return { entropy: means("entropy"), kl: means("kl"), logprobGap, tokens };
}

/** @throws SpadeError policy.nonFinite when a log-probability of a sampled target is no number */
export function refuseNonFinite(rows: readonly PreparedRow[], logprobs: readonly Float32Array[], from: string): void {
  rows.forEach((prepared, i) => {
    for (const t of sampledTargets(prepared)) {
      const value = at(logprobs[i] ?? new Float32Array(), t);
      if (!Number.isFinite(value)) throw nonFinite(`${from} gave the log-probability ${value} for token ${t + 1} of row ${i}`);
    }
  });
}

function* sampledTargets({ mask }: PreparedRow): Generator<number> {
  for (let t = 0; t < mask.length; t++) if (mask[t] === 1) yield t;
}

function importance(prepared: PreparedRow, old: Float32Array, { importanceCap }: PolicyGradient, t: number): number {
  return Math.min(importanceCap, Math.exp(at(old, t) - at(prepared.sampler, t)));
}

function weightOf(rows: readonly PreparedRow[]): number {
  return rows.reduce((sum, { row, sampled }) => sum + row.weight * sampled, 0);
}

function at(values: Float32Array, t: number): number {
  return values[t] ?? NaN;
}
