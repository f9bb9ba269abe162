import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeTinyModel } from "../../src/chat/testing/tiny-model.ts";
import { Rng } from "../../src/core/seed.ts";
import { writeSafetensors } from "../../src/engine/safetensors.ts";
import type { TransformerConfig } from "../../src/engine/types.ts";
import { openSpeech } from "../../src/selfplay/speech.ts";

/** A model directory that a server can serve, made on the spot: nothing comes from a hub. */
export interface ServedDirectory {
  readonly directory: string;
  readonly vocabularySize: number;
}

interface Matrix {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

const contextLength = 2048;

/** Writes a tiny Qwen 3 with random weights. `added` are whole texts that are one token each; a smaller vocabulary than the tokenizer has is for tests of tokens alone. */
export async function writeQwen3(seed: number, { added = [], ...given }: { readonly added?: readonly string[]; readonly vocabularySize?: number } = {}): Promise<ServedDirectory> {
  const directory = writeTinyModel("qwen3", { added, config: { tokenizer_class: "PreTrainedTokenizerFast" } });
  const vocabularySize = given.vocabularySize ?? (await openSpeech(directory)).vocabularySize;
  const shape = { hidden_size: 64, intermediate_size: 128, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 };
  writeConfig(directory, { architectures: ["Qwen3ForCausalLM"], model_type: "qwen3", ...shape, vocab_size: vocabularySize, rms_norm_eps: 1e-6, rope_theta: 1e6 });
  const rng = new Rng(seed);
  const random = (...shape: number[]): Matrix => ({ shape, data: Float32Array.from({ length: shape.reduce((a, b) => a * b) }, () => 0.05 * normal(rng)) });
  const ones = (size: number): Matrix => ({ shape: [size], data: new Float32Array(size).fill(1) });
  const [hidden, heads, pairs] = [shape.hidden_size, shape.num_attention_heads * shape.head_dim, shape.num_key_value_heads * shape.head_dim];
  const layer = (): Record<string, Matrix> => ({
    "self_attn.q_proj": random(heads, hidden),
    "self_attn.k_proj": random(pairs, hidden),
    "self_attn.v_proj": random(pairs, hidden),
    "self_attn.o_proj": random(hidden, heads),
    "self_attn.q_norm": ones(shape.head_dim),
    "self_attn.k_norm": ones(shape.head_dim),
    "mlp.gate_proj": random(shape.intermediate_size, hidden),
    "mlp.up_proj": random(shape.intermediate_size, hidden),
    "mlp.down_proj": random(hidden, shape.intermediate_size),
    input_layernorm: ones(hidden),
    post_attention_layernorm: ones(hidden),
  });
  await writeWeights(directory, { embedding: random(vocabularySize, hidden), norm: ones(hidden), layers: Array.from({ length: shape.num_hidden_layers }, layer) });
  return { directory, vocabularySize };
}

/**
 * Writes the embedded engine's model as a Llama, which it is when its embedding of the token before is zero: the same function of the same
 * weights, for two engines.
 */
export async function writeLlama(config: TransformerConfig, weights: Readonly<Record<string, Float32Array>>): Promise<ServedDirectory> {
  const directory = writeTinyModel("qwen3", { config: { tokenizer_class: "PreTrainedTokenizerFast" } });
  const { width, heads, feedForward } = config;
  writeConfig(directory, {
    architectures: ["LlamaForCausalLM"],
    model_type: "llama",
    hidden_size: width,
    intermediate_size: feedForward,
    num_hidden_layers: config.layers,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    head_dim: width / heads,
    vocab_size: config.vocabularySize,
    rms_norm_eps: 1e-5,
    rope_theta: config.ropeBase,
  });
  const of = (name: string): Float32Array => weights[name] ?? new Float32Array();
  const turned = (name: string, rows: number, columns: number): Matrix => ({ shape: [columns, rows], data: transposed(of(name), rows, columns) });
  const gain = (name: string): Matrix => ({ shape: [width], data: of(name) });
  const layer = (i: number): Record<string, Matrix> => ({
    "self_attn.q_proj": turned(`layers.${i}.query`, width, width),
    "self_attn.k_proj": turned(`layers.${i}.key`, width, width),
    "self_attn.v_proj": turned(`layers.${i}.value`, width, width),
    "self_attn.o_proj": turned(`layers.${i}.output`, width, width),
    "mlp.gate_proj": turned(`layers.${i}.gate`, width, feedForward),
    "mlp.up_proj": turned(`layers.${i}.up`, width, feedForward),
    "mlp.down_proj": turned(`layers.${i}.down`, feedForward, width),
    input_layernorm: gain(`layers.${i}.attentionNorm`),
    post_attention_layernorm: gain(`layers.${i}.feedForwardNorm`),
  });
  const embedding = { shape: [config.vocabularySize, width], data: of("embedding") };
  await writeWeights(directory, { embedding, norm: gain("finalNorm"), layers: Array.from({ length: config.layers }, (_, i) => layer(i)) });
  return { directory, vocabularySize: config.vocabularySize };
}

function writeConfig(directory: string, config: object): void {
  const common = { hidden_act: "silu", attention_bias: false, mlp_bias: false, tie_word_embeddings: true, max_position_embeddings: contextLength, dtype: "float32" };
  writeFileSync(join(directory, "config.json"), JSON.stringify({ ...common, ...config }));
}

function writeWeights(directory: string, { embedding, norm, layers }: { readonly embedding: Matrix; readonly norm: Matrix; readonly layers: readonly Readonly<Record<string, Matrix>>[] }): Promise<void> {
  const named = layers.flatMap((layer, i) => Object.entries(layer).map(([name, matrix]): [string, Matrix] => [`model.layers.${i}.${name}.weight`, matrix]));
  return writeSafetensors(join(directory, "model.safetensors"), { "model.embed_tokens.weight": embedding, "model.norm.weight": norm, ...Object.fromEntries(named) });
}

/** A matrix [rows, columns] as [columns, rows]. */
function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  return Float32Array.from(data, (_, i) => data[(i % rows) * columns + Math.floor(i / rows)] ?? NaN);
}

export function normal(rng: Rng): number {
  return Math.sqrt(-2 * Math.log(1 - rng.float())) * Math.cos(2 * Math.PI * rng.float());
}
