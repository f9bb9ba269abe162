import process from "node:process";
import { SpadeError } from "../core/errors.ts";
import { commandHelp, parseArguments, programHelp } from "./arguments.ts";
import { commands } from "./commands.ts";

/** Runs one command line; returns the exit code: 0 done, 1 failed, 2 wrong usage or configuration, 3 a limit of spending reached. */
async function main(words: readonly string[]): Promise<number> {
  const [name, ...rest] = words;
  if (name === undefined || name === "--help" || name === "help") {
    console.log(programHelp(commands));
    return name === undefined ? 2 : 0;
  }
  const spec = commands.find((command) => command.name === name);
  if (spec === undefined) {
    console.error(`Unknown command "${name}". Commands: ${commands.map((command) => command.name).join(", ")}.`);
    return 2;
  }
  if (rest.includes("--help")) {
    console.log(commandHelp(spec));
    return 0;
  }
  return spec.run(parseArguments(spec, rest));
}

function fail(error: unknown): number {
  if (!(error instanceof SpadeError)) {
    console.error(error);
    return 1;
  }
  console.error(`${error.code}: ${error.message}`);
  if (error.code === "policy.budget") return 3;
  return error.boundary === "usage" || error.boundary === "config" ? 2 : 1;
}

/** Started by bin/spade.js: ends with it, as on SIGTERM, even if it was killed. */
if (process.channel !== undefined) {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"));
  process.channel.unref();
}

process.exitCode = await main(process.argv.slice(2)).catch(fail);
