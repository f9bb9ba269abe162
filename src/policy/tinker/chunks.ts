import type { Datum, ForwardBackwardOutput } from "./wire.ts";

/** How much one forward_backward request may hold. */
export interface ChunkLimits {
  readonly datums: number;
  /** Of the request, estimated at ten bytes a number. */
  readonly bytes: number;
}

const bytesPerNumber = 10;

/** Splits datums, in order, into requests within the limits; a datum larger than the limit makes one alone. */
export function splitChunks(datums: readonly Datum[], limits: ChunkLimits): (readonly Datum[])[] {
  const chunks: Datum[][] = [];
  let bytes = 0;
  for (const datum of datums) {
    const size = bytesPerNumber * datum.tokens.length * (2 + Object.keys(datum.inputs).length);
    const last = chunks.at(-1);
    if (last === undefined || last.length >= limits.datums || bytes + size > limits.bytes) {
      chunks.push([datum]);
      bytes = size;
    } else {
      last.push(datum);
      bytes += size;
    }
  }
  return chunks;
}

/** Joins the outputs of the requests that one call was split into. */
export function mergeOutputs(outputs: readonly ForwardBackwardOutput[]): ForwardBackwardOutput {
  return {
    logprobs: outputs.flatMap((output) => output.logprobs),
    metrics: mergeMetrics(outputs.map(({ metrics, logprobs }) => ({ metrics, datums: logprobs.length }))),
  };
}

/**
 * Metrics of a whole call from those of its requests, by the reduction that each key names behind its colon. A key that some request lacks,
 * and one whose reduction is unknown, is dropped rather than guessed.
 */
export function mergeMetrics(parts: readonly { readonly metrics: Readonly<Record<string, number>>; readonly datums: number }[]): Record<string, number> {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return { ...first?.metrics };
  const merged: Record<string, number> = {};
  for (const key of Object.keys(first.metrics)) {
    const values = parts.flatMap(({ metrics, datums }) => (metrics[key] === undefined ? [] : [{ value: metrics[key], datums }]));
    if (values.length < parts.length) continue;
    if (key.endsWith(":unique")) values.forEach(({ value }, i) => (merged[i === 0 ? key : `${key}_${i}`] = value));
    const value = reduce(key.slice(key.lastIndexOf(":") + 1), values);
    if (value !== undefined) merged[key] = value;
  }
  return merged;
}

function reduce(reduction: string, parts: readonly { readonly value: number; readonly datums: number }[]): number | undefined {
  const values = parts.map(({ value }) => value);
  const mean = parts.reduce((sum, { value, datums }) => sum + value * datums, 0) / parts.reduce((sum, { datums }) => sum + datums, 0);
  switch (reduction) {
    case "sum":
      return values.reduce((a, b) => a + b, 0);
    case "min":
      return Math.min(...values);
    case "max":
      return Math.max(...values);
    case "mean":
      return mean;
    case "slack":
      return Math.max(...values) - mean;
    default:
      return undefined;
  }
}
