import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describeIssues } from "../config/explain.ts";
import { loadConfig } from "../config/load.ts";
import { mergeInputs } from "../config/merge.ts";
import type { Config } from "../config/schema.ts";
import { samplingMismatches } from "../config/consistency.ts";
import { messageOf, SpadeError } from "../core/errors.ts";
import { loadSuite } from "../evaluation/suite.ts";
import { measuredRates } from "../report/measured-rates.ts";
import { type Amount, type Plan, planRun, type Rates, ratesSchema } from "../report/plan.ts";
import { defaultCacheDirectory } from "../sandbox/image.ts";
import { packagePath } from "../selfplay/paths.ts";
import { readPrograms } from "../selfplay/pool-folder.ts";
import { RunStore } from "../storage/run-store.ts";
import { readAssignments } from "./assignments.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { diagnose, type Diagnosis, pinnedNodeVersion } from "./doctor.ts";
import { describeFindings } from "./doctor-command.ts";
import { readVariable } from "./environment-variables.ts";
import { duration, table } from "./format.ts";
import { nanoRates } from "./nano-rates.ts";

/** `spade plan`: what a run will take, and whether it could start. Exit code 0: it could, 1: a check failed. */
export const planCommand: CommandSpec = {
  name: "plan",
  usage: "plan <preset|config.json> [options]",
  summary: "Say what a run will take (samples, tokens, time, cost) and whether it could start. Rates come from a stored run, a file or the command line; for the bundled model measured ones are built in.",
  options: [
    { name: "set", value: "KEY=VALUE", repeatable: true, help: "override any key of the configuration; may be repeated" },
    { name: "from", value: "RUN", help: "take the rates from a run's record" },
    { name: "rates", value: "FILE", help: "take rates from a JSON file (docs/plan.md)" },
    { name: "rate", value: "KEY=VALUE", repeatable: true, help: "set one rate, for example --rate agentSampledPrice=0.6; may be repeated" },
    { name: "no-checks", help: "do not look at endpoint, key, model, disk and sandbox" },
    { name: "json", help: "print JSON" },
  ],
  run: planAndCheck,
};

async function planAndCheck(args: Arguments): Promise<number> {
  const { source, config, digest } = loadConfig(args.required(0, "The preset or configuration file"), readAssignments("set", args.texts("set")));
  const rates = ratesOf(config, args);
  const suites = await Promise.all(config.evaluation.suites.map((directory) => loadSuite(packagePath(directory))));
  const { environments } = config;
  const pool = "path" in environments ? { pool: readPrograms(packagePath(environments.path)).length } : {};
  const plan = planRun(config, rates, { evaluation: suites.reduce((sum, { programs }) => sum + programs.length, 0), ...pool });
  const diagnosis = args.flag("no-checks") ? undefined : await check(config, plan.recordBytes.expected);
  const notes = [...config.notes, ...samplingMismatches(config)];
  if (args.flag("json")) console.log(JSON.stringify({ source, configDigest: digest, notes, rates, plan, ...diagnosis }, null, 2));
  else console.log([...planText(source, plan), ...notes.map((note) => `Note: ${note}`), ...(diagnosis === undefined ? [] : ["", describeFindings(diagnosis.findings)])].join("\n"));
  return diagnosis?.findings.some(({ status }) => status === "failed") === true ? 1 : 0;
}

function check(config: Config, expectedBytes: number | undefined): Promise<Diagnosis> {
  const { policy, designer, advisor } = config;
  return diagnose({
    cacheDirectory: defaultCacheDirectory(),
    policies: [policy, ...(designer.kind === "fixed" ? [designer.policy] : []), ...(advisor === undefined ? [] : [advisor.policy])],
    readVariable,
    runs: resolve("runs"),
    pinnedNode: pinnedNodeVersion(),
    ...(expectedBytes === undefined ? {} : { expectedBytes }),
  });
}

/** Built-in rates of the bundled model, then those of a run, a file and the command line; later ones win. @throws SpadeError usage.rates */
function ratesOf({ policy }: Config, args: Arguments): Rates {
  const builtIn = policy.kind === "embedded" && policy.model === "models/nano" ? nanoRates : {};
  const [from, file] = [args.text("from"), args.text("rates")];
  const given = [builtIn, from === undefined ? {} : ratesOfRun(from), file === undefined ? {} : readRates(file), readAssignments("rate", args.texts("rate"))];
  const parsed = ratesSchema.safeParse(given.reduce<unknown>(mergeInputs, {}));
  if (parsed.success) return parsed.data;
  const wrong = describeIssues(parsed.error.issues).map(({ path, message }) => `${path} ${message}`.trim());
  throw new SpadeError("usage.rates", `Wrong rates: ${wrong.join("; ")}. Known are ${Object.keys(ratesSchema.shape).join(", ")}.`);
}

function ratesOfRun(directory: string): Rates {
  using store = RunStore.openReadOnly(directory);
  return measuredRates(store);
}

function readRates(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as unknown;
  } catch (cause) {
    throw new SpadeError("usage.rates", `Cannot read the rates file ${path}: ${messageOf(cause)}. Give a JSON file (docs/plan.md).`, { cause });
  }
}

const format = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const dash = "–";
const figure = (value: number | undefined): string => (value === undefined ? dash : format.format(value));

function planText(source: string, plan: Plan): string[] {
  const rows = (amounts: Readonly<Record<string, Amount>>, suffix = ""): string[][] => Object.entries(amounts).map(([name, { expected, atMost }]) => [`${name}${suffix}`, figure(expected), figure(atMost)]);
  const { all, ...parts } = plan.seconds;
  const stages = Object.entries(parts).map(([name, { expected }]) => `${name} ${expected === undefined ? dash : duration(expected)}`);
  return [
    `${source}: ${plan.iterations} iterations, ${plan.sets} sets of environments, ${plan.updates} updates in ${plan.optimiserSteps} optimiser steps`,
    "",
    table([["", "expected", "at most"], ...rows(plan.samples), ...rows(plan.tokens, " tokens")]),
    "",
    `time    ${all.expected === undefined ? dash : duration(all.expected)} (${stages.join(", ")})`,
    `cost    ${figure(plan.cost.expected)}`,
    `record  ${plan.recordBytes.expected === undefined ? dash : `${figure(plan.recordBytes.expected / 2 ** 20)} MiB`}`,
    ...(plan.unknown.length === 0 ? [] : [`Unknown rates: ${plan.unknown.join(", ")}. Give them with --from RUN, --rates FILE or --rate KEY=VALUE.`]),
  ];
}
