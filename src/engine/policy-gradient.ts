import { SpadeError } from "../core/errors.ts";
import { Rng } from "../core/seed.ts";
import { policyGradientGraph, policyTerms } from "./losses.ts";
import type { PackItem, PackedChunk } from "./packing.ts";
import { result } from "./session.ts";
import type { Feed } from "./session.ts";
import { checkLength, perToken } from "./training.ts";
import type { Training } from "./training.ts";
import type { PolicyGradientMetrics, PolicyGradientRow, PolicyGradientSettings } from "./types.ts";

interface Prepared {
  readonly row: PolicyGradientRow;
  readonly item: PackItem & { readonly temperature: number };
  /** Shape [T]: the trainer's log-probabilities before the first step, and the reference's. */
  readonly old: Float32Array;
  readonly reference: Float32Array;
}

/** One update: old and reference log-probabilities, then `minibatches` steps. On failure everything is as before. */
export async function policyGradientUpdate(training: Training, rows: readonly PolicyGradientRow[], settings: PolicyGradientSettings): Promise<PolicyGradientMetrics> {
  const prepared = await prepare(training, rows, settings);
  const { weights, optimiser } = training.model;
  try {
    const metrics = await steps(training, prepared, settings);
    return { ...metrics, ...comparison(prepared) };
  } catch (error) {
    training.model.weights = weights;
    training.model.optimiser = optimiser;
    throw error;
  }
}

async function prepare(training: Training, rows: readonly PolicyGradientRow[], settings: PolicyGradientSettings): Promise<Prepared[]> {
  const { reference } = training.model;
  if (settings.klCoefficient !== 0 && reference === undefined) throw new SpadeError("engine.request", "The loss has a KL term but there is no reference policy. Call setReference first, or set klCoefficient to 0.");
  const items = rows.map((row) => policyItem(row, training.model.config.contextLength));
  const old = await training.logprobs(items);
  if (!old.every((row) => row.every(Number.isFinite))) throw new SpadeError("engine.nonFinite", "A log-probability of the batch is not finite; the weights were not changed. Go back to an earlier checkpoint.");
  const referenceLogprobs = settings.klCoefficient === 0 ? old : await training.logprobs(items, reference);
  return rows.map((row, i) => ({ row, item: items[i] ?? fail(), old: old[i] ?? fail(), reference: referenceLogprobs[i] ?? fail() }));
}

async function steps(training: Training, prepared: readonly Prepared[], settings: PolicyGradientSettings): Promise<Pick<PolicyGradientMetrics, "loss" | "gradientNorm" | "clipFraction">> {
  const batches = split(new Rng(settings.seed).shuffle(prepared), settings.minibatches);
  let [loss, gradientNorm, clipped, seen] = [0, 0, 0, 0];
  for (const batch of batches) {
    const counted = { clipped: 0, seen: 0 };
    const step = await gradientOf(training, batch, { settings, counted });
    loss += step.loss / batches.length;
    gradientNorm += (await training.step(step.gradient, settings.adam)) / batches.length;
    clipped += counted.clipped;
    seen += counted.seen;
  }
  return { loss, gradientNorm, clipFraction: clipped / seen };
}

function gradientOf(training: Training, batch: readonly Prepared[], options: { settings: PolicyGradientSettings; counted: { clipped: number; seen: number } }): Promise<{ loss: number; gradient: Float32Array }> {
  const { settings, counted } = options;
  const terms = policyTerms(settings);
  const totalWeight = batch.reduce((sum, { row, item }) => sum + row.weight * item.targets.length, 0);
  const family = { name: `policyGradient kl=${terms.kl} entropy=${terms.entropy}`, build: (length: number) => policyGradientGraph(training.model.config, length, terms) };
  const scalar = (value: number): Feed => ({ data: Float32Array.of(value), shape: [] });
  const column = (chunk: PackedChunk, value: (entry: Prepared, token: number) => number): Feed => perToken(chunk, ({ item, token }) => value(batch[item] ?? fail(), token));
  const feeds = (chunk: PackedChunk): Record<string, Feed> => ({
    inverseTemperature: column(chunk, ({ row }) => 1 / row.temperature),
    weight: column(chunk, ({ row }) => row.weight / totalWeight),
    advantage: column(chunk, ({ row }) => row.advantage),
    old: column(chunk, ({ old }, t) => old[t] ?? NaN),
    importance: column(chunk, ({ row, old }, t) => Math.min(settings.importanceCap, Math.exp((old[t] ?? NaN) - (row.logprobs[t] ?? NaN)))),
    lowest: scalar(1 - settings.clipLow),
    highest: scalar(1 + settings.clipHigh),
    ...(terms.kl ? { reference: column(chunk, ({ reference }, t) => reference[t] ?? NaN), klCoefficient: scalar(settings.klCoefficient) } : {}),
    ...(terms.entropy ? { entropyCoefficient: scalar(settings.entropyCoefficient) } : {}),
  });
  const seen = (chunk: PackedChunk, outputs: Record<string, Float32Array>): void => {
    const logprobs = result(outputs, "logprobs");
    chunk.predicted.forEach(({ item, token }, p) => {
      const { row, old } = batch[item] ?? fail();
      const ratio = Math.exp((logprobs[p] ?? NaN) - (old[token] ?? NaN));
      counted.seen += 1;
      if (row.advantage > 0 ? ratio > 1 + settings.clipHigh : row.advantage < 0 && ratio < 1 - settings.clipLow) counted.clipped += 1;
    });
  };
  return training.accumulate(family, training.pack(batch.map(({ item }) => item)), { feeds, seen });
}

/** Sampler against trainer before the first step. */
function comparison(prepared: readonly Prepared[]): Pick<PolicyGradientMetrics, "entropy" | "kl" | "logprobGap" | "tokens"> {
  const groups = new Map<string, { entropy: number; kl: number; count: number }>();
  let [logprobGap, tokens] = [0, 0];
  for (const { row, item, old } of prepared) {
    const group = groups.get(row.group) ?? { entropy: 0, kl: 0, count: 0 };
    groups.set(row.group, group);
    for (const t of item.targets) {
      const difference = (old[t] ?? NaN) - (row.logprobs[t] ?? NaN);
      logprobGap = Math.max(logprobGap, Math.abs(difference));
      group.entropy -= old[t] ?? NaN;
      group.kl += Math.expm1(difference) - difference;
      group.count += 1;
      tokens += 1;
    }
  }
  const means = (key: "entropy" | "kl"): Record<string, number> => Object.fromEntries([...groups].filter(([, { count }]) => count > 0).map(([name, group]) => [name, group[key] / group.count]));
  return { entropy: means("entropy"), kl: means("kl"), logprobGap, tokens };
}

function policyItem(row: PolicyGradientRow, contextLength: number): PackItem & { temperature: number } {
  const { tokens, mask, logprobs, temperature } = row;
  checkLength(tokens, contextLength);
  const complain = (what: string): never => {
    throw new SpadeError("engine.request", `A policy-gradient row is invalid: ${what}. Correct the row.`);
  };
  if (mask.length !== tokens.length || logprobs.length !== tokens.length) complain(`${tokens.length} tokens, ${mask.length} mask entries and ${logprobs.length} log-probabilities, expected as many of each`);
  if (mask[0] === 1) complain("its first token is marked as sampled, but nothing precedes it");
  if (!(temperature > 0)) complain(`temperature ${temperature}, expected above 0 (greedy samples cannot be trained on)`);
  const targets = Array.from(mask, (_, t) => t).filter((t) => mask[t] === 1);
  if (!Number.isFinite(row.advantage) || !Number.isFinite(row.weight) || row.weight < 0) complain(`advantage ${row.advantage} and weight ${row.weight}, expected finite numbers and a weight of at least 0`);
  if (targets.some((t) => !Number.isFinite(logprobs[t]))) {
    throw new SpadeError("engine.nonFinite", "A sampler's log-probability of the batch is not finite; the weights were not changed. Drop the row.");
  }
  return { tokens, targets, temperature };
}

/** Minibatches of about equal size, in order; fewer when there are fewer items. */
export function split<T>(items: readonly T[], parts: number): T[][] {
  const count = Math.min(parts, items.length);
  return Array.from({ length: count }, (_, i) => items.slice(Math.floor((i * items.length) / count), Math.floor(((i + 1) * items.length) / count)));
}

function fail(): never {
  throw new SpadeError("internal.graph", "A packed position names no row. This is a bug in spade-rl; please report it.");
}
