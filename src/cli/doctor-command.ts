import { loadConfig } from "../config/load.ts";
import { defaultCacheDirectory } from "../sandbox/image.ts";
import type { CommandSpec } from "./arguments.ts";
import { diagnose, type Finding, pinnedNodeVersion } from "./doctor.ts";
import { readVariable } from "./environment-variables.ts";
import { resolve } from "node:path";

/** `spade doctor`: checks what a run needs. Exit code 0: a run can start (warnings are printed), 1: it cannot. */
export const doctorCommand: CommandSpec = {
  name: "doctor",
  usage: "doctor [--json]",
  summary: "Check Node, disk, bundled model, interpreter image, sandbox and its isolation, and say what to do.",
  options: [{ name: "json", help: "print JSON" }],
  run: async (args) => {
    const { findings, isolation } = await diagnose({
      cacheDirectory: defaultCacheDirectory(),
      policies: [loadConfig("quickstart").config.policy],
      readVariable,
      runs: resolve("runs"),
      pinnedNode: pinnedNodeVersion(),
    });
    const ok = findings.every(({ status }) => status !== "failed");
    if (args.flag("json")) console.log(JSON.stringify({ ok, findings, ...(isolation === undefined ? {} : { isolation }) }, null, 2));
    else console.log(describeFindings(findings));
    return ok ? 0 : 1;
  },
};

/** One line for each check, and its advice. */
export function describeFindings(findings: readonly Finding[]): string {
  return findings.map(describe).join("\n");
}

function describe({ check, status, found, advice }: Finding): string {
  return `${status.padEnd(7)}  ${check.padEnd(9)}  ${found}${advice === undefined ? "" : `\n${" ".repeat(20)}${advice}`}`;
}
