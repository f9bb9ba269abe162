import { appendFileSync, existsSync, globSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { z } from "zod";
import { loadConfig } from "../config/load.ts";
import { type Episode, episodeReturn } from "../core/episode.ts";
import { messageOf, SpadeError } from "../core/errors.ts";
import type { Evaluation, Rate } from "../evaluation/evaluate.ts";
import type { Spent } from "../policy/openai/spending.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import { openSandbox } from "../sandbox/pool.ts";
import { openSpeaker } from "../selfplay/engines.ts";
import { type GivenEnvironment, playRollouts, type RolloutScores, scoreRollouts } from "../selfplay/rollouts.ts";
import { RunStore } from "../storage/run-store.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { decimal, pair, table } from "./format.ts";
import { spentText } from "./spending.ts";
import { freePath, interruptible, outsideRuns } from "./surroundings.ts";

/** `spade rollout`: plays given programs with any policy. */
export const rolloutCommand: CommandSpec = {
  name: "rollout",
  usage: "rollout ENVIRONMENT... [--policy config.json] [options]",
  summary: "Play environments with a policy and print win rates with intervals. ENVIRONMENT is a program file, a folder of them, or the directory of a run or of designs. Transcripts are stored as JSON lines. Exit code 0: played; 1: no episode was completed; 3: a limit of spending was reached.",
  options: [
    { name: "policy", value: "CONFIG", help: "preset or configuration file with the policy, prompts and sampling (default: quickstart, the bundled model)" },
    { name: "seeds", value: "N", help: "seeds per environment (default 8)" },
    { name: "plays", value: "N", help: "plays per seed and arm (default 1)" },
    { name: "hint", help: "play with the hint too, where there is one, on the same seeds" },
    { name: "seed", value: "S", help: "seed of every random choice (default: the configuration's)" },
    { name: "out", value: "FILE", help: "file of the transcripts (default: rollouts/<name>-<n>.jsonl, never overwritten)" },
    { name: "json", help: "print the result as JSON; progress goes to the error stream" },
  ],
  run: rollout,
};

async function rollout(args: Arguments): Promise<number> {
  args.required(0, "An environment");
  const environments = args.positionals.flatMap(readEnvironments);
  const source = args.text("policy") ?? "quickstart";
  const [seed, seeds, plays] = [args.integer("seed"), args.atLeastOne("seeds", 8), args.atLeastOne("plays", 1)];
  const { config } = loadConfig(source, seed === undefined ? {} : { run: { seed } });
  const file = newFile(args.text("out") ?? freePath("rollouts", basename(source, ".json"), ".jsonl"));
  interruptible(file, `Finished episodes are in ${file}.`);
  await using stack = new AsyncDisposableStack();
  const speaker = stack.use(await openSpeaker(config, outsideRuns));
  const sandbox = await openSandbox(config.sandbox);
  stack.defer(() => sandbox.close());
  for (const note of speaker.notes) process.stderr.write(`${note}\n`);
  const played: Episode[] = [];
  const options = { environments, speaker, sandbox, config, seeds, plays, withHint: args.flag("hint") };
  const finish = (): number => report({ file, played, scores: scoreRollouts(played, options), args, ...(speaker.spending === undefined ? {} : { spent: speaker.spending.spent }) });
  try {
    await playRollouts({
      ...options,
      onProgress: ({ episodesDone, episodes, tokens }) => void process.stderr.write(`${episodesDone} of ${episodes} episodes, ${tokens} tokens\n`),
      onEpisode: (episode) => {
        played.push(episode);
        mkdirSync(dirname(file), { recursive: true });
        appendFileSync(file, `${JSON.stringify(transcriptOf(episode))}\n`);
      },
    });
  } catch (error) {
    if (played.length > 0) finish();
    throw error;
  }
  return finish();
}

const besideSchema = z.looseObject({ hint: z.string().exactOptional(), skill: z.string().exactOptional(), maxTurns: z.int().min(1).exactOptional() });

function readEnvironments(path: string): GivenEnvironment[] {
  if (existsSync(join(path, "run.sqlite"))) return readStored(path);
  const isFolder = existsSync(path) && statSync(path).isDirectory();
  const files = isFolder ? globSync("*.{py,ts}", { cwd: path }).sort().map((name) => join(path, name)) : [path];
  if (files.length === 0 || (!isFolder && !(existsSync(path) && /\.(py|ts)$/.test(path)))) throw new SpadeError("usage.environment", `${path} is no program (.py, .ts), folder of programs, run or designs. Give one of these; spade design makes some.`);
  return files.map((file) => {
    const beside = file.replace(/\.(py|ts)$/, ".json");
    return { id: file, program: { language: file.endsWith(".py") ? "python" : "typescript", source: readFileSync(file, "utf8") }, ...(existsSync(beside) ? readBeside(beside) : {}) };
  });
}

/** What `spade design` wrote beside a program. */
function readBeside(path: string): Pick<GivenEnvironment, "hint" | "skill" | "maxTurns"> {
  try {
    const { hint, skill, maxTurns } = besideSchema.parse(JSON.parse(readFileSync(path, "utf8")));
    return { ...(hint === undefined ? {} : { hint }), ...(skill === undefined ? {} : { skill }), ...(maxTurns === undefined ? {} : { maxTurns }) };
  } catch (cause) {
    throw new SpadeError("usage.environment", `${path} beside a program cannot be read: ${messageOf(cause)}. It holds hint, skill and maxTurns as spade design writes them; correct or remove it.`, { cause });
  }
}

function readStored(directory: string): GivenEnvironment[] {
  using store = RunStore.openReadOnly(directory);
  const found = [...storedEnvironments(store)].map(({ environment }) => environment);
  if (found.length === 0) throw new SpadeError("usage.environment", `${directory} has no admitted environment to play. Give another run, or design more.`);
  return found;
}

function newFile(path: string): string {
  if (existsSync(path)) throw new SpadeError("usage.out", `${path} exists and is not overwritten. Give another file in --out.`);
  return path;
}

/** An episode as a line of the transcripts; tokens are there where the policy gives them. */
function transcriptOf({ id, environmentId, arm, seed, play, turns, outcome, trajectory }: Episode): object {
  const segments = trajectory.segments.map((segment) => ({ ...segment, tokens: [...segment.tokens], ...(segment.kind === "sampled" ? { logprobs: [...segment.logprobs] } : {}) }));
  return { id, environment: environmentId, arm, seed, play, outcome, return: episodeReturn(outcome) ?? null, turns, ...(segments.length === 0 ? {} : { segments }) };
}

interface Played {
  readonly file: string;
  readonly played: readonly Episode[];
  readonly scores: RolloutScores;
  readonly args: Arguments;
  readonly spent?: Spent;
}

function report({ file, played, scores, args, spent }: Played): number {
  if (args.flag("json")) console.log(JSON.stringify({ transcripts: file, ...scores, ...(spent === undefined ? {} : { spent }) }, null, 2));
  else {
    const { plain, hint, gain } = scores;
    console.log(table([["environment", "arm", "win rate", "95 % interval", "episodes", "failed"], ...rateRows("plain", plain), ...(hint === undefined ? [] : rateRows("hint", hint))]));
    if (gain !== undefined) console.log(`The hint adds ${decimal(gain.difference)} ${pair(gain.interval)} to the win rate.`);
    if (spent !== undefined) console.log(spentText("policy", spent));
    if (played.length > 0) console.log(`Transcripts: ${file}`);
  }
  return played.some(({ outcome }) => outcome.kind !== "failed") ? 0 : 1;
}

/** A row per environment that was played in an arm, and one for all. */
function rateRows(arm: string, { programs, overall }: Evaluation): string[][] {
  const row = (name: string, { winRate, interval, episodes, failed }: Rate): string[] => [name, arm, decimal(winRate), pair(interval), String(episodes), String(failed)];
  return [...programs.filter(({ episodes, failed }) => episodes + failed > 0).map((program) => row(program.file, program)), row("all", overall)];
}
