import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { arch, cpus, platform } from "node:os";
import { sha256 } from "../core/digest.ts";

/** Version of this package. */
export function programVersion(): string {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Commit and digest of the uncommitted changes of this package's checkout, and the machine; commit absent outside a checkout. */
export function gitProvenance(): Readonly<Record<string, unknown>> {
  const machine = { node: process.version, platform: platform(), arch: arch(), cores: cpus().length };
  const root = new URL("../../", import.meta.url);
  try {
    const git = (...args: string[]): string => execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"], maxBuffer: 2 ** 28 });
    const diff = git("diff", "HEAD");
    return { ...machine, commit: git("rev-parse", "HEAD").trim(), ...(diff === "" ? {} : { diffSha256: sha256(diff) }) };
  } catch {
    return machine;
  }
}
