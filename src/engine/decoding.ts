import { add, concat, gather, input, matmul, mul, reshape, slice, softmax, sum } from "./graph.ts";
import type { Outputs, Tensor } from "./graph.ts";
import { hiddenStates, modelInputs, outputMatrix } from "./transformer.ts";
import type { Attend, ModelInputs } from "./transformer.ts";
import type { TransformerConfig } from "./types.ts";

const toTheEnd = 2 ** 31 - 1;

/** Prompts [B, T], right-padded: logits [B, V] at `last` [B] (indices into the grid), and per layer keys and values [B, H, T, D]. */
export function prefillGraph(config: TransformerConfig): Outputs {
  const model = modelInputs(config);
  const mask = input("mask", ["T", "T"]);
  const kept: Record<string, Tensor> = {};
  const attend: Attend = ({ q, k, v }, layer) => {
    kept[`key${layer}`] = k;
    kept[`value${layer}`] = v;
    return matmul(softmax(add(matmul(q, k, { transposeB: true }), mask)), v);
  };
  const hidden = hiddenStates(model, { tokens: input("tokens", ["B", "T"], "i32"), previous: input("previous", ["B", "T"], "i32"), positions: input("positions", ["B", "T"], "i32") }, attend);
  const last = gather(reshape(hidden, ["N", config.width]), input("last", ["B"], "i32"));
  return { logits: logitsOf(model, last), ...kept };
}

/**
 * One token per sequence over a cache of C columns (inputs `key<l>`, `value<l>` [B, H, C, D]; `mask` [B, 1, 1, C] is added to
 * the scores): logits [B, V] and the new column of every layer, keys before values, `columns` [B, 2·layers·H, 1, D].
 */
export function stepGraph(config: TransformerConfig): Outputs {
  const model = modelInputs(config);
  const mask = input("mask", ["B", 1, 1, "C"]);
  const cacheShape = ["B", config.heads, "C", config.width / config.heads];
  const columns: Tensor[] = [];
  const attend: Attend = ({ q, k, v }, layer) => {
    columns.push(k, v);
    const present = sum(mul(q, k), [3]);
    const past = add(matmul(q, input(`key${layer}`, cacheShape), { transposeB: true }), mask);
    const weights = softmax(concat([present, past], 3, "C + 1"));
    const old = matmul(slice(weights, 3, 1, toTheEnd, "C"), input(`value${layer}`, cacheShape));
    return add(old, mul(slice(weights, 3, 0, 1), v));
  };
  const hidden = hiddenStates(model, { tokens: input("tokens", ["B"], "i32"), previous: input("previous", ["B"], "i32"), positions: input("positions", ["B", 1], "i32") }, attend);
  return { logits: logitsOf(model, hidden), columns: concat(columns, 1) };
}

const logitsOf = (model: ModelInputs, hidden: Tensor): Tensor => matmul(hidden, outputMatrix(model), { transposeB: true });
