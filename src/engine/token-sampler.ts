import type { Rng } from "../core/seed.ts";

/** How one token is drawn; as in `EngineSampleRequest`. */
export interface Drawing {
  readonly temperature: number;
  readonly topP: number;
  readonly topK: number;
}

/**
 * Draws a token from logits [V] in float64; `logprob` is that of softmax(logits / temperature) without truncation.
 * Temperature 0 takes the highest logit (the lowest id of equal ones), with the log-probability of temperature 1.
 */
export function drawToken(logits: Float32Array, drawing: Drawing, rng: Rng): { token: number; logprob: number } {
  const { temperature } = drawing;
  const scale = 1 / (temperature === 0 ? 1 : temperature);
  let highest = 0;
  for (let i = 1; i < logits.length; i++) if ((logits[i] as number) > (logits[highest] as number)) highest = i;
  const top = (logits[highest] as number) * scale;
  const weights = new Float64Array(logits.length);
  let total = 0;
  for (let i = 0; i < logits.length; i++) total += weights[i] = Math.exp((logits[i] as number) * scale - top);
  const truncated = drawing.topP < 1 || drawing.topK > 0;
  const token = temperature === 0 ? highest : pickWeighted(truncated ? truncate(weights, total, drawing) : weights, rng.float());
  return { token, logprob: (logits[token] as number) * scale - top - Math.log(total) };
}

/** The weights of the most probable tokens, all others 0. The token that crosses `topP` is kept. */
function truncate(weights: Float64Array, total: number, { topP, topK }: Drawing): Float64Array {
  const order = Array.from(weights, (_, i) => i).sort((a, b) => (weights[b] as number) - (weights[a] as number) || a - b);
  const kept = new Float64Array(weights.length);
  let mass = 0;
  for (const token of topK > 0 ? order.slice(0, topK) : order) {
    kept[token] = weights[token] as number;
    mass += weights[token] as number;
    if (mass >= topP * total) break;
  }
  return kept;
}

function pickWeighted(weights: Float64Array, uniform: number): number {
  let rest = uniform * weights.reduce((sum, weight) => sum + weight, 0);
  let last = 0;
  for (let i = 0; i < weights.length; i++) {
    const weight = weights[i] as number;
    if (weight === 0) continue;
    last = i;
    if (rest < weight) return i;
    rest -= weight;
  }
  return last;
}
