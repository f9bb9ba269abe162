import { existsSync, readFileSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Config } from "../config/schema.ts";
import { messageOf } from "../core/errors.ts";
import { loadTokenizer } from "../engine/bpe.ts";
import { readModel } from "../engine/model.ts";
import { type ReadVariable, readSecret } from "../http/secret.ts";
import { ensureImage } from "../sandbox/image.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { describeIsolation, type Isolation } from "../sandbox/second-layer.ts";
import { type EndpointConfig, endpointOf } from "../selfplay/endpoint.ts";
import { askServer } from "../selfplay/engines.ts";
import { packagePath } from "../selfplay/paths.ts";
import { openSpeech } from "../selfplay/speech.ts";

/** What one check found. `advise` says what to do about anything but `ok`. */
export interface Finding {
  readonly check: "node" | "disk" | "image" | "sandbox" | "isolation" | "model" | "key" | "endpoint";
  /** `warning`: everything works, but something could be better. */
  readonly status: "ok" | "warning" | "failed";
  readonly found: string;
  readonly advice?: string;
}

export interface Diagnosis {
  readonly findings: readonly Finding[];
  /** Absent when the sandbox does not start. */
  readonly isolation?: Isolation;
}

export interface DoctorOptions {
  /** Directory of the interpreter's image. */
  readonly cacheDirectory: string;
  /** What samples and learns. */
  readonly policies: readonly Config["policy"][];
  readonly readVariable: ReadVariable;
  /** Where runs are written. */
  readonly runs: string;
  /** Bytes that the run is expected to write. */
  readonly expectedBytes?: number;
  /** Version that is pinned, as in package.json. */
  readonly pinnedNode: string;
}

const mebibyte = 2 ** 20;
/** A run of the quickstart with its checkpoints takes less; the image takes 32 MiB. */
const minFreeBytes = 256 * mebibyte;
const goodFreeBytes = 2048 * mebibyte;

/** Checks what a run needs, one thing after the other. Never throws. */
export async function diagnose(options: DoctorOptions): Promise<Diagnosis> {
  const { pinnedNode, runs, expectedBytes = 0, policies, readVariable } = options;
  const found: Finding[][] = [];
  for (const policy of policies) found.push(await checkPolicy(policy, readVariable));
  const findings = [checkNode(process.version, pinnedNode), checkDisk("disk", runs, { expectedBytes }), ...found.flat()];
  const image = await checkImage(options.cacheDirectory);
  if (image.status === "failed") return { findings: [...findings, image] };
  const { findings: ran, isolation } = await checkSandbox(options.cacheDirectory);
  return { findings: [...findings, image, ...ran], ...(isolation === undefined ? {} : { isolation }) };
}

/** Compares the running Node with the pinned one: types are stripped and permission mode behaves as tested from there on. */
export function checkNode(running: string, pinned: string): Finding {
  const version = running.replace(/^v/, "");
  if (version === pinned) return { check: "node", status: "ok", found: `Node ${version}, as pinned` };
  const status = Number(version.split(".")[0]) < Number(pinned.split(".")[0]) ? "failed" : "warning";
  return { check: "node", status, found: `Node ${version}, pinned is ${pinned}`, advice: "Start it with npx spade or npm run spade (npm ci installs the pinned Node)." };
}

/** Checks the space left where runs are written, and that what is expected fits. */
export function checkDisk(check: "disk", directory: string, { expectedBytes = 0, free = freeBytes }: { readonly expectedBytes?: number; readonly free?: (directory: string) => number } = {}): Finding {
  try {
    const bytes = free(directory);
    const found = `${Math.floor(bytes / mebibyte)} MiB free for ${directory}`;
    const needed = Math.max(minFreeBytes, expectedBytes);
    const plenty = Math.max(goodFreeBytes, 1.5 * expectedBytes);
    if (bytes >= plenty) return { check, status: "ok", found };
    return { check, status: bytes < needed ? "failed" : "warning", found, advice: `Free some space, or write runs elsewhere (train --out DIR); ${Math.ceil(plenty / mebibyte)} MiB are plenty.` };
  } catch (error) {
    return { check, status: "warning", found: `free space is unknown: ${messageOf(error)}`, advice: "Look at the disk yourself before a long run." };
  }
}

/** Free bytes of the file system of a directory or of the nearest one above it that exists. */
function freeBytes(directory: string): number {
  if (!existsSync(directory) && dirname(directory) !== directory) return freeBytes(dirname(directory));
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize;
}

/** Checks what samples and learns: model files, or key, tokenizer and server. */
export async function checkPolicy(policy: Config["policy"], readVariable: ReadVariable): Promise<Finding[]> {
  switch (policy.kind) {
    case "embedded":
      return [await checkModel(packagePath(policy.model))];
    case "tinker":
      return [...checkKey(policy.apiKeyEnv, readVariable), await checkTokenizer(policy.tokenizer), await checkEndpoint(policy, () => askServer(policy, readVariable))];
    case "openai":
      return [...checkKey(policy.apiKeyEnv, readVariable), ...(policy.tokenizer === undefined ? [] : [await checkTokenizer(policy.tokenizer)]), await checkEndpoint(policy, async () => (await endpointOf(policy, { seed: 0, readVariable }).servedModel())?.contextLength)];
  }
}

function checkKey(name: string | undefined, readVariable: ReadVariable): Finding[] {
  if (name === undefined) return [];
  try {
    readSecret(name, readVariable);
    return [{ check: "key", status: "ok", found: `${name} is set` }];
  } catch (error) {
    return [{ check: "key", status: "failed", found: messageOf(error), advice: `Set it in the shell that starts the run: export ${name}=…` }];
  }
}

async function checkTokenizer(directory: string): Promise<Finding> {
  try {
    const { vocabularySize } = await openSpeech(packagePath(directory));
    return { check: "model", status: "ok", found: `tokenizer in ${directory}: ${vocabularySize} tokens` };
  } catch (error) {
    return { check: "model", status: "failed", found: messageOf(error), advice: "Name a local directory with the served model's tokenizer_config.json and tokenizer.json in policy.tokenizer (spade chat looks at one)." };
  }
}

async function checkEndpoint({ baseUrl, model }: Pick<EndpointConfig, "baseUrl" | "model">, ask: () => Promise<number | undefined>): Promise<Finding> {
  try {
    const contextLength = await ask();
    return { check: "endpoint", status: "ok", found: `${baseUrl} serves ${model}${contextLength === undefined ? "" : `, context ${contextLength}`}` };
  } catch (error) {
    return { check: "endpoint", status: "failed", found: messageOf(error), advice: `Start the server at ${baseUrl}, or correct policy.baseUrl, policy.model and policy.apiKeyEnv.` };
  }
}

async function checkModel(directory: string): Promise<Finding> {
  try {
    const tokenizer = await loadTokenizer(join(directory, "tokenizer.json"));
    const { config } = await readModel(directory);
    if (config.vocabularySize !== tokenizer.vocabularySize) throw new Error(`the model has ${config.vocabularySize} tokens, the tokenizer ${tokenizer.vocabularySize}`);
    return { check: "model", status: "ok", found: `${directory}: ${config.layers} layers, ${config.vocabularySize} tokens` };
  } catch (error) {
    return { check: "model", status: "failed", found: messageOf(error), advice: `Restore the files of ${directory} (git checkout models), or name another model in the configuration.` };
  }
}

async function checkImage(cacheDirectory: string): Promise<Finding> {
  try {
    const { path, sha256 } = await ensureImage(cacheDirectory);
    return { check: "image", status: "ok", found: `${path}, ${sha256.slice(0, 16)}` };
  } catch (error) {
    return { check: "image", status: "failed", found: messageOf(error), advice: `Make ${cacheDirectory} writable with 100 MiB free; if the build itself failed, reinstall (npm ci).` };
  }
}

const probe = "class Probe(TextGame):\n    def reset(self, seed=None):\n        return self.show(str(self.start(seed).random()))\n    def step(self, action):\n        return self.judge(action, 'ping')\n";

async function checkSandbox(cacheDirectory: string): Promise<{ readonly findings: readonly Finding[]; readonly isolation?: Isolation }> {
  const advice = "Reinstall (npm ci) and start it with npx spade; in a container, allow child processes and 300 MiB of memory for each.";
  try {
    await using stack = new AsyncDisposableStack();
    const sandbox = await openSandbox({ lanes: 1, cacheDirectory });
    stack.defer(() => sandbox.close());
    const opened = await sandbox.open({ language: "python", source: probe });
    if (!opened.ok) throw new Error(opened.failure.message);
    const created = (await opened.value.create([1]))[0];
    if (created?.ok !== true) throw new Error(created?.failure.message ?? "no answer");
    const stepped = (await opened.value.step([{ instance: created.value.instance, action: "ping" }]))[0];
    if (stepped?.ok !== true || stepped.value.reward !== 1) throw new Error("the probe program gave a wrong answer");
    const startMs = Math.round(sandbox.statistics()[0]?.startMs ?? 0);
    return { findings: [{ check: "sandbox", status: "ok", found: `a child started in ${startMs} ms and ran a program` }, checkIsolation(sandbox.isolation)], isolation: sandbox.isolation };
  } catch (error) {
    return { findings: [{ check: "sandbox", status: "failed", found: messageOf(error), advice }] };
  }
}

/** Says what stands between an escaped program and the host. */
export function checkIsolation(isolation: Isolation): Finding {
  const { bubblewrap, platform, permissionGaps } = isolation;
  const found = describeIsolation(isolation);
  const advice = [
    ...(permissionGaps.length === 0 ? [] : [`Start it with npx spade: the pinned Node also denies ${permissionGaps.join(", ")}.`]),
    ...(bubblewrap.active || platform !== "linux" ? [] : ["Optional: install bubblewrap and allow unprivileged user namespaces for a second wall behind permission mode."]),
  ];
  return advice.length === 0 ? { check: "isolation", status: "ok", found } : { check: "isolation", status: "warning", found, advice: advice.join(" ") };
}

/** Version of Node that package.json pins. */
export function pinnedNodeVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { dependencies: { node: string } }).dependencies.node;
}
