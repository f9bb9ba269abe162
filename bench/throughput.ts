/** Wall time of an iteration against what the model server alone needs. Run it: `node bench/main.ts throughput`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { loadConfig } from "../src/config/load.ts";
import { createRun } from "../src/selfplay/run.ts";
import { RunStore } from "../src/storage/run-store.ts";
import { cpuMsOf, starvedMs } from "./cost.ts";
import { servedModel, type ServerSpeed } from "./throughput-server.ts";

const fast: ServerSpeed = { prefillMs: 200, tokensPerSecond: 60, passMs: 1500, optimiserStepMs: 300, publishMs: 500, saveMs: 300 };
const minibatches = 1;

/** A number of episodes at once, and how it is made up: designs, seeds of each, plays of a seed in each arm. */
interface Size {
  readonly designs: number;
  readonly seeds: number;
  readonly plays: number;
}

const sizes: readonly Size[] = [
  { designs: 1, seeds: 2, plays: 2 },
  { designs: 4, seeds: 4, plays: 2 },
  { designs: 16, seeds: 4, plays: 4 },
];

const episodesOf = ({ designs, seeds, plays }: Size): number => designs * seeds * plays * 2;

/** One iteration of one size. */
interface Measured {
  readonly episodes: number;
  readonly iteration: number;
  readonly samples: number;
  readonly modelBoundMs: number;
  readonly wallMs: number;
  /** Processor time of this process, and of the sandbox's children. */
  readonly ownCpuMs: number;
  readonly sandboxCpuMs: number;
  /** Time for which this process was ready to run and another had the processor. */
  readonly starvedMs: number;
  readonly rssBytes: number;
}

/** What is noted at the end of each iteration, and before the first. */
interface Moment extends Pick<Measured, "ownCpuMs" | "sandboxCpuMs" | "starvedMs" | "rssBytes"> {
  readonly at: number;
}

function configOf(size: Size, options: Options, baseUrl: string): ReturnType<typeof loadConfig> {
  return loadConfig("smoke", {
    run: { iterations: options.iterations },
    policy: { kind: "tinker", baseUrl, model: servedModel, tokenizer: "models/nano", profile: "hosted", maxConcurrentSamples: 2 * episodesOf(size) },
    design: { tasksPerIteration: size.designs, activeSkills: 1, sampling: { temperature: 1, maxTokens: 2000 }, hintSampling: { maxTokens: 64 } },
    play: { seedsPerEnvironment: size.seeds, playsPerSeed: size.plays, hintPlaysPerSeed: size.plays, maxTurns: 14, sampling: { maxTokens: 400 }, contextLength: 8192 },
    sandbox: { lanes: options.lanes },
    gates: { grounded: { enabled: false } },
    curriculum: { replays: 0 },
    update: { loss: { entropyCoefficient: 0 }, optimiser: { minibatches }, asynchronous: options.asynchronous },
    evaluation: { suites: [] },
  });
}

interface Options {
  readonly speed: ServerSpeed;
  readonly iterations: number;
  readonly lanes: number;
  readonly asynchronous: boolean;
}

/** Runs iterations of a size against a server of its own. */
async function measure(size: Size, options: Options): Promise<Measured[]> {
  const root = mkdtempSync(join(tmpdir(), "spade-throughput-"));
  const server = spawn(process.execPath, [join(import.meta.dirname, "throughput-server.ts"), JSON.stringify(options.speed)], { stdio: ["pipe", "pipe", "inherit"] });
  try {
    const [baseUrl] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    const directory = join(root, "run");
    const moments: Moment[] = [];
    await createRun({
      directory,
      name: "throughput",
      loaded: configOf(size, options, baseUrl),
      programVersion: "bench",
      provenance: {},
      readVariable: () => undefined,
      listener: (event) => {
        if (event.kind === "iteration" || (event.kind === "stage" && event.iteration === 1 && event.stage === "design" && event.done === 0)) moments.push(momentOf(server.pid ?? 0));
      },
    });
    using store = RunStore.openReadOnly(directory);
    return moments.slice(1).map((moment, i) => ({ ...modelBound(store, i + 1, options.speed), ...difference(moments[i] ?? moment, moment), iteration: i + 1 }));
  } finally {
    server.stdin.end();
    await once(server, "close");
    rmSync(root, { recursive: true });
  }
}

function momentOf(server: number): Moment {
  const { user, system } = process.cpuUsage();
  const ownCpuMs = (user + system) / 1000;
  return { at: performance.now(), ownCpuMs, sandboxCpuMs: cpuMsOf([process.pid]) - cpuMsOf([server]) - ownCpuMs, starvedMs: starvedMs(), rssBytes: process.memoryUsage.rss() };
}

function difference(before: Moment, after: Moment): Omit<Moment, "at"> & { readonly wallMs: number } {
  return {
    wallMs: after.at - before.at,
    ownCpuMs: after.ownCpuMs - before.ownCpuMs,
    sandboxCpuMs: after.sandboxCpuMs - before.sandboxCpuMs,
    starvedMs: after.starvedMs - before.starvedMs,
    rssBytes: after.rssBytes,
  };
}

/**
 * What an iteration would take if everything but the server took no time: the weights are published; the longest chain of samples of
 * which each needs the one before (candidate, hint, the turns of one episode), all chains side by side; the update; the save. Read from the
 * recorded tokens.
 */
function modelBound(store: RunStore, iteration: number, speed: ServerSpeed): Pick<Measured, "episodes" | "samples" | "modelBoundMs"> {
  const spent = new Map<string, number>();
  let samples = 0;
  for (const { owner, ownerId, kind, tokens } of store.rows("segments", { iteration })) {
    if (kind !== "sampled") continue;
    samples += 1;
    const key = `${owner} ${ownerId}`;
    spent.set(key, (spent.get(key) ?? 0) + speed.prefillMs + (1000 * tokens.length) / speed.tokensPerSecond);
  }
  const taskOf = new Map([...store.rows("environments", { iteration })].map(({ id, taskId }) => [id, taskId]));
  const designing = new Map<string, number>();
  for (const [id, taskId] of taskOf) designing.set(taskId, (designing.get(taskId) ?? 0) + (spent.get(`design ${id}`) ?? 0) + (spent.get(`hint ${id}`) ?? 0));
  const chains = [...store.rows("episodes", { iteration })].map(({ id, environmentId }) => (designing.get(taskOf.get(environmentId) ?? "") ?? 0) + (spent.get(`episode ${id}`) ?? 0));
  const updatesIn = (which: number): number => [...store.rows("updates", { iteration: which })].length;
  const publishMs = iteration === 1 || updatesIn(iteration - 1) > 0 ? speed.publishMs : 0;
  const updateMs = updatesIn(iteration) * (speed.passMs + minibatches * (speed.passMs + speed.optimiserStepMs));
  return { episodes: chains.length, samples, modelBoundMs: publishMs + Math.max(0, ...designing.values(), ...chains) + updateMs + speed.saveMs };
}

const usage = "node bench/main.ts throughput [--episodes 8,64,512] [--iterations 3] [--lanes 2] [--slower 1] [--asynchronous] [--json]";

/** Measures and prints. */
export async function run(words: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...words],
    options: {
      episodes: { type: "string", default: sizes.map(episodesOf).join() },
      iterations: { type: "string", default: "3" },
      lanes: { type: "string", default: "2" },
      /** Factor on all times of the server. */
      slower: { type: "string", default: "1" },
      asynchronous: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const chosen = values.episodes.split(",").map((text) => sizes.find((size) => episodesOf(size) === Number(text)));
  const slower = Number(values.slower);
  const speed: ServerSpeed = { tokensPerSecond: fast.tokensPerSecond / slower, prefillMs: fast.prefillMs * slower, passMs: fast.passMs * slower, optimiserStepMs: fast.optimiserStepMs * slower, publishMs: fast.publishMs * slower, saveMs: fast.saveMs * slower };
  const options: Options = { speed, iterations: Number(values.iterations), lanes: Number(values.lanes), asynchronous: values.asynchronous };
  if (values.help || chosen.includes(undefined) || !(options.iterations >= 1) || !(options.lanes >= 1) || !(slower > 0)) {
    console.log(`Usage: ${usage}\nSizes: ${sizes.map(episodesOf).join(", ")} episodes at once.`);
    process.exitCode = values.help ? 0 : 2;
    return;
  }
  const measured: Measured[] = [];
  for (const size of chosen) if (size !== undefined) measured.push(...(await measure(size, options)));
  console.log(values.json ? JSON.stringify({ options, measured }) : describe(measured, options));
}

function describe(measured: readonly Measured[], { speed, asynchronous }: Options): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(2);
  const row = ({ episodes, iteration, samples, modelBoundMs, wallMs, ownCpuMs, sandboxCpuMs, rssBytes, ...rest }: Measured): string =>
    `| ${episodes} | ${iteration} | ${samples} | ${seconds(modelBoundMs)} | ${seconds(wallMs)} | ${(wallMs / modelBoundMs).toFixed(3)} | ${seconds(ownCpuMs)} | ${seconds(sandboxCpuMs)} | ${seconds(rest.starvedMs)} | ${(rssBytes / 2 ** 20).toFixed(0)} |`;
  return [
    `Server: ${speed.prefillMs} ms before the first token, then ${speed.tokensPerSecond} tokens/s of each sample; a pass ${speed.passMs} ms, an optimiser step ${speed.optimiserStepMs} ms, publishing ${speed.publishMs} ms, saving ${speed.saveMs} ms.${asynchronous ? " Asynchronous: an iteration's wall time begins at the end of the one before." : ""}`,
    "| episodes | iteration | samples | model-bound s | wall s | ratio | own CPU s | sandbox CPU s | starved s | RSS MiB |",
    "|---|---|---|---|---|---|---|---|---|---|",
    ...measured.map(row),
  ].join("\n");
}
