import { concat, exp, input, max, min, mul, neg, reshape, sub, sum } from "./graph.ts";
import type { Outputs, Tensor } from "./graph.ts";
import { gradients } from "./gradients.ts";
import { attentionBlock, blockAttention, hiddenStates, modelInputs, outputMatrix, parameterSpecs, selectRows, tokenLogprobs } from "./transformer.ts";
import type { ModelInputs } from "./transformer.ts";
import type { PolicyGradientSettings, TransformerConfig } from "./types.ts";

/** Forward pass over packed rows of static `length`: log-probabilities at the selected positions P, under the rows' temperatures. */
function packedForward(model: ModelInputs, length: number): { all: Tensor; target: Tensor } {
  const blocks = Array.from({ length: Math.ceil(length / attentionBlock) }, (_, c) => c);
  const block = Math.min(length, attentionBlock);
  const masks = blocks.map((c) => input(`mask${c}`, ["R", 1, block, (c + 1) * block]));
  const grid = { tokens: input("tokens", ["N"], "i32"), previous: input("previous", ["N"], "i32"), positions: input("positions", ["R", length], "i32") };
  const hidden = selectRows(hiddenStates(model, grid, blockAttention(masks)), input("index", ["P"], "i32"), input("inverse", ["N"], "i32"));
  return tokenLogprobs(mul(hidden, input("inverseTemperature", ["P", 1])), outputMatrix(model), input("target", ["P"], "i32"));
}

/** Graph of log-probabilities only: `logprobs` [P]. */
export function logprobGraph(config: TransformerConfig, length: number): Outputs {
  return { logprobs: reshape(packedForward(modelInputs(config), length).target, ["P"]) };
}

/** Cross-entropy Σ weight·(−log p) and its gradients. `weight` [P, 1] comes normalised. */
export function crossEntropyGraph(config: TransformerConfig, length: number): Outputs {
  const model = modelInputs(config);
  const { target } = packedForward(model, length);
  const loss = neg(total(mul(target, input("weight", ["P", 1]))));
  return { loss, gradient: flatGradient(config, model, loss) };
}

/** Which optional terms of the policy-gradient loss a graph carries. */
export interface PolicyTerms {
  readonly kl: boolean;
  readonly entropy: boolean;
}

export function policyTerms(settings: PolicyGradientSettings): PolicyTerms {
  return { kl: settings.klCoefficient !== 0, entropy: settings.entropyCoefficient !== 0 };
}

/**
 * Clipped policy gradient: −Σ weight·(importance·min(r·A, clip(r)·A) − β·kl + η·entropy) with r = exp(log p − old).
 * `old` are the trainer's log-probabilities before the update, `importance` the truncated sampler-to-trainer weight;
 * all per-token inputs have shape [P, 1], the coefficients none. Outputs `loss`, `gradient` and `logprobs` [P].
 */
export function policyGradientGraph(config: TransformerConfig, length: number, terms: PolicyTerms): Outputs {
  const model = modelInputs(config);
  const { all, target } = packedForward(model, length);
  const column = (name: string): Tensor => input(name, ["P", 1]);
  const advantage = column("advantage");
  const ratio = exp(sub(target, column("old")));
  const clipped = min(max(ratio, input("lowest", [])), input("highest", []));
  let gain = mul(column("importance"), min(mul(ratio, advantage), mul(clipped, advantage)));
  if (terms.kl) {
    const difference = sub(column("reference"), target);
    gain = sub(gain, mul(sub(sub(exp(difference), difference), 1), input("klCoefficient", [])));
  }
  if (terms.entropy) gain = sub(gain, mul(sum(mul(exp(all), all), [1]), input("entropyCoefficient", [])));
  const loss = neg(total(mul(gain, column("weight"))));
  return { loss, gradient: flatGradient(config, model, loss), logprobs: reshape(target, ["P"]) };
}

const total = (x: Tensor): Tensor => reshape(sum(x, [0, 1]), []);

function flatGradient(config: TransformerConfig, model: ModelInputs, loss: Tensor): Tensor {
  const parts = gradients(loss, [...model.parameters.values()]);
  const size = (shape: readonly number[]): number => shape.reduce((product, dim) => product * dim, 1);
  const flat = parameterSpecs(config).map(({ shape }, i) => reshape(parts[i] ?? loss, [size(shape)]));
  return concat(flat, 0);
}
