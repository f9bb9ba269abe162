import { readFileSync } from "node:fs";
import { z } from "zod";
import { canonicalJson, sha256 } from "../core/digest.ts";
import { SpadeError, messageOf } from "../core/errors.ts";
import { contradictions, refuseSamplingMismatch } from "./consistency.ts";
import type { Contradiction } from "./consistency.ts";
import { describeIssues, unknownKey } from "./explain.ts";
import { mergeInputs } from "./merge.ts";
import { presets } from "./presets.ts";
import { configSchema } from "./schema.ts";
import type { Config, PresetInput } from "./schema.ts";

/** A configuration ready to run (invariant 11). */
export interface LoadedConfig {
  /** Name of the preset or path of the file it came from. */
  readonly source: string;
  /** Deeply frozen. */
  readonly config: Config;
  /** SHA-256 of the canonical JSON of `config`. */
  readonly digest: string;
}

/**
 * Resolves a preset's name or the path of a JSON file (recognised by `/`, `\` or `.json`), which may extend a preset by `"extends": "<preset>"`.
 * `overrides` win; a variant of another `kind` replaces the preset's variant instead of merging with it.
 * @throws config.unknownPreset, config.file, config.unknownKey, config.invalid, config.samplingMismatch
 */
export function loadConfig(presetOrPath: string, overrides: unknown = {}): LoadedConfig {
  const base = /[/\\]|\.json$/.test(presetOrPath) ? fileInput(presetOrPath) : presetInput(presetOrPath);
  return resolveConfig(presetOrPath, mergeInputs(base, overrides));
}

/**
 * Checks an input, fills in defaults, freezes and digests it.
 * @throws config.unknownKey, config.invalid, config.samplingMismatch
 */
export function resolveConfig(source: string, input: unknown): LoadedConfig {
  const parsed = configSchema.safeParse(input);
  if (!parsed.success) throw unknownKey(source, parsed.error.issues) ?? invalid(source, describeIssues(parsed.error.issues));
  const config: Config = deepFreeze(parsed.data);
  const found = contradictions(config);
  if (found.length > 0) throw invalid(source, found);
  refuseSamplingMismatch(config);
  return { source, config, digest: sha256(canonicalJson(config)) };
}

function invalid(source: string, found: readonly Contradiction[]): SpadeError {
  const lines = found.map(({ path, message }) => `${path === "" ? "the configuration" : path} ${message}`);
  return new SpadeError("config.invalid", `Invalid configuration "${source}": ${lines.join("; ")}. Correct the value${lines.length > 1 ? "s" : ""} and start again.`, {
    details: { source, paths: found.map((item) => item.path) },
  });
}

function presetInput(name: string): PresetInput {
  const preset = Object.hasOwn(presets, name) ? presets[name] : undefined;
  if (preset !== undefined) return preset;
  const known = Object.keys(presets);
  throw new SpadeError("config.unknownPreset", `Unknown preset "${name}". Use one of ${known.join(", ")}, or give the path of a JSON file (ending in .json).`, {
    details: { name, known },
  });
}

function fileInput(path: string): unknown {
  const content = parseFile(path);
  const file = z.looseObject({ extends: z.string().exactOptional() }).safeParse(content);
  if (!file.success) {
    throw new SpadeError("config.file", `Configuration file ${path} must hold one JSON object, with "extends" (if any) naming a preset. Correct the file.`, { details: { path } });
  }
  const { extends: base, ...rest } = file.data;
  return base === undefined ? rest : mergeInputs(presetInput(base), rest);
}

function parseFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new SpadeError("config.file", `Cannot read configuration file ${path}: ${messageOf(cause)}. Check the path and its permissions.`, { details: { path }, cause });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new SpadeError("config.file", `Configuration file ${path} is not valid JSON: ${messageOf(cause)}. Correct the file.`, { details: { path }, cause });
  }
}

function deepFreeze<T>(value: T): T {
  if (value === null || typeof value !== "object") return value;
  for (const item of Object.values(value)) deepFreeze(item);
  return Object.freeze(value);
}
