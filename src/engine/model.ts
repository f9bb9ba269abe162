import { readFile, rename, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SpadeError, messageOf } from "../core/errors.ts";
import { readSafetensors, writeSafetensors } from "./safetensors.ts";
import type { StoredTensor } from "./safetensors.ts";
import type { Feed } from "./session.ts";
import { checkConfig, initialWeights, parameterSpecs, rotaryTables, sizeOf, tableShape } from "./transformer.ts";
import type { TransformerConfig, WeightSource } from "./types.ts";

/** First and second moments, and the number of steps taken; flat vectors in the order of the weights. */
export interface OptimiserState {
  readonly step: number;
  readonly first: Float32Array;
  readonly second: Float32Array;
}

/** A model in memory: flat vectors in the order of `parameterSpecs`, replaced as a whole and never changed in place. */
export interface Model {
  readonly config: TransformerConfig;
  weights: Float32Array;
  optimiser: OptimiserState;
  /** Weights of the KL term's reference policy. */
  reference?: Float32Array;
}

function parameterCount(config: TransformerConfig): number {
  return parameterSpecs(config).reduce((total, { shape }) => total + sizeOf(shape), 0);
}

export function freshOptimiser(config: TransformerConfig): OptimiserState {
  const size = parameterCount(config);
  return { step: 0, first: new Float32Array(size), second: new Float32Array(size) };
}

/** @throws SpadeError engine.config, engine.weights */
export async function openModel(source: WeightSource): Promise<Model> {
  if (source.kind === "directory") return readModel(source.directory);
  const { config } = source;
  checkConfig(config);
  const weights = source.kind === "seed" ? initialWeights(config, source.seed) : flattenTensors(config, withShapes(config, source.weights), "the given weights");
  return { config, weights, optimiser: freshOptimiser(config) };
}

/** Feeds of a flat vector by parameter name: views, no copies. */
export function parameterFeeds(config: TransformerConfig, flat: Float32Array): Record<string, Feed> {
  let offset = 0;
  return Object.fromEntries(
    parameterSpecs(config).map(({ name, shape }) => {
      const data = flat.subarray(offset, (offset += sizeOf(shape)));
      return [name, { data, shape }];
    }),
  );
}

/** Feeds of the rotary tables. */
export function tableFeeds(config: TransformerConfig): Record<string, Feed> {
  const shape = tableShape(config);
  const { cos, sin } = rotaryTables(config);
  return { cos: { data: cos, shape }, sin: { data: sin, shape } };
}

/**
 * Writes config.json, weights.safetensors and, if resumable, optimiser.safetensors and reference.safetensors into an existing directory.
 * @throws SpadeError engine.write
 */
export async function writeModel(directory: string, model: Model, resumable: boolean): Promise<void> {
  try {
    await writeFiles(directory, model, resumable);
  } catch (cause) {
    throw new SpadeError("engine.write", `Cannot write the model to ${directory}: ${messageOf(cause)}. What was saved before is safe; free disk space or make the place writable, then go on.`, { details: { directory }, cause });
  }
}

async function writeFiles(directory: string, model: Model, resumable: boolean): Promise<void> {
  const { config, weights, optimiser, reference } = model;
  await writeSafetensors(join(directory, "weights.safetensors"), tensorsOf(config, weights, ""));
  if (resumable && reference !== undefined) await writeSafetensors(join(directory, "reference.safetensors"), tensorsOf(config, reference, ""));
  if (resumable) {
    const moments = { ...tensorsOf(config, optimiser.first, "first."), ...tensorsOf(config, optimiser.second, "second.") };
    await writeSafetensors(join(directory, "optimiser.safetensors"), moments, { step: String(optimiser.step) });
  }
  const path = join(directory, "config.json");
  await writeFile(`${path}.partial`, `${JSON.stringify(config, undefined, 2)}\n`);
  await rename(`${path}.partial`, path);
}

/** Reads a model directory; without optimiser.safetensors the optimiser starts fresh. @throws SpadeError engine.config, engine.weights */
export async function readModel(directory: string): Promise<Model> {
  const config = await readConfig(join(directory, "config.json"));
  const path = join(directory, "weights.safetensors");
  const weights = flattenTensors(config, (await readSafetensors(path)).tensors, path);
  const optimiserPath = join(directory, "optimiser.safetensors");
  const optimiser = (await exists(optimiserPath)) ? await readOptimiser(config, optimiserPath) : freshOptimiser(config);
  const referencePath = join(directory, "reference.safetensors");
  if (!(await exists(referencePath))) return { config, weights, optimiser };
  return { config, weights, optimiser, reference: flattenTensors(config, (await readSafetensors(referencePath)).tensors, referencePath) };
}

const exists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false);

async function readOptimiser(config: TransformerConfig, path: string): Promise<OptimiserState> {
  const { tensors, metadata } = await readSafetensors(path);
  const step = Number(metadata["step"]);
  if (!Number.isInteger(step) || step < 0) throw new SpadeError("engine.weights", `The optimiser file ${path} has step ${String(metadata["step"])}, expected a whole number. Use another checkpoint.`, { details: { path } });
  const part = (prefix: string): Float32Array => {
    const own = Object.entries(tensors).filter(([name]) => name.startsWith(prefix));
    return flattenTensors(config, Object.fromEntries(own.map(([name, tensor]) => [name.slice(prefix.length), tensor])), path);
  };
  return { step, first: part("first."), second: part("second.") };
}

async function readConfig(path: string): Promise<TransformerConfig> {
  let config: unknown;
  try {
    config = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    throw new SpadeError("engine.config", `The model configuration ${path} cannot be read: ${messageOf(error)}. Expected a JSON object written by spade-rl; restore it from a copy.`, { cause: error, details: { path } });
  }
  if (typeof config !== "object" || config === null) throw new SpadeError("engine.config", `The model configuration ${path} is not a JSON object. Restore it from a copy.`, { details: { path } });
  checkConfig(config as TransformerConfig);
  return config as TransformerConfig;
}

function withShapes(config: TransformerConfig, weights: Readonly<Record<string, Float32Array>>): Record<string, StoredTensor> {
  const shapes = new Map(parameterSpecs(config).map(({ name, shape }) => [name, shape]));
  return Object.fromEntries(Object.entries(weights).map(([name, data]) => [name, { shape: shapes.get(name) ?? [data.length], data }]));
}

/** Lays named weights into one flat vector. @throws SpadeError engine.weights */
export function flattenWeights(config: TransformerConfig, weights: Readonly<Record<string, Float32Array>>): Float32Array {
  return flattenTensors(config, withShapes(config, weights), "the given weights");
}

function flattenTensors(config: TransformerConfig, tensors: Readonly<Record<string, StoredTensor>>, from: string): Float32Array {
  const flat = new Float32Array(parameterCount(config));
  const specs = parameterSpecs(config);
  const extra = Object.keys(tensors).filter((name) => !specs.some((spec) => spec.name === name));
  const complain = (what: string): never => {
    throw new SpadeError("engine.weights", `The weights in ${from} do not fit the configuration: ${what}. Use the config.json that belongs to them.`, { details: { from } });
  };
  if (extra.length > 0) complain(`unexpected tensor ${extra[0] ?? ""}`);
  let offset = 0;
  for (const { name, shape } of specs) {
    const tensor = tensors[name];
    if (tensor?.shape.join() !== shape.join() || tensor.data.length !== sizeOf(shape)) return complain(`tensor ${name} is ${tensor === undefined ? "missing" : `of shape [${tensor.shape.join(", ")}]`}, expected [${shape.join(", ")}]`);
    flat.set(tensor.data, offset);
    offset += tensor.data.length;
  }
  if (!flat.every(Number.isFinite)) complain("a value is not finite");
  return flat;
}

function tensorsOf(config: TransformerConfig, flat: Float32Array, prefix: string): Record<string, StoredTensor> {
  return Object.fromEntries(Object.entries(parameterFeeds(config, flat)).map(([name, { data, shape }]) => [prefix + name, { shape, data: data as Float32Array }]));
}
