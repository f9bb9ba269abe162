import { spawn, spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { sha256 } from "../../src/core/digest.ts";

/** Of Python, that SkyRL 0.4.0 takes; the first is the one that was tried. */
const versions = ["3.12", "3.13", "3.14"];
const requirements = join(import.meta.dirname, "requirements.txt");

/** Whether the server can be run here. */
export type Environment = { readonly python: string } | { readonly missing: string };

/**
 * The virtual environment with the pinned server, in `~/.cache/spade-rl` (or `XDG_CACHE_HOME`); installed from the package registry when it
 * is not there yet, within the time given.
 */
export async function skyrlEnvironment(limitMs: number, say: (text: string) => void): Promise<Environment> {
  const base = findPython();
  if (base === undefined) return { missing: "no Python 3.12, 3.13 or 3.14 was found (SPADE_PYTHON may name one)" };
  const directory = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "spade-rl", `skyrl-${sha256(readFileSync(requirements, "utf8") + base.version).slice(0, 12)}`);
  const python = join(directory, "bin", "python");
  const complete = join(directory, "complete");
  if (existsSync(complete)) {
    say(`SkyRL: ${directory}, installed before.`);
    return { python };
  }
  say(`SkyRL: installing the packages of test/skyrl/requirements.txt into ${directory} (Python ${base.version}; about 3 GB from the registry).`);
  const start = performance.now();
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const failed = (await run([base.path, "-m", "venv", directory], limitMs)) ?? (await run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "-r", requirements], limitMs));
  if (failed !== undefined) return { missing: `the packages could not be installed: ${failed}` };
  writeFileSync(complete, "");
  say(`SkyRL: installed in ${Math.round((performance.now() - start) / 1000)} s.`);
  return { python };
}

/** The first Python that SkyRL 0.4.0 runs on. */
function findPython(): { readonly path: string; readonly version: string } | undefined {
  const named = process.env["SPADE_PYTHON"];
  const known = versions.flatMap((version) => [`python${version}`, ...globSync(join(homedir(), `.pyenv/versions/${version}*/bin/python3`))]);
  const candidates = [...(named === undefined ? [] : [named]), ...known, "python3"];
  for (const path of candidates) {
    const { stdout, status } = spawnSync(path, ["-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"], { encoding: "utf8" });
    const version = status === 0 ? stdout.trim() : "";
    if (versions.includes(version)) return { path, version };
  }
  return undefined;
}

/** Runs a command to its end; returns what went wrong. */
function run([command = "", ...words]: readonly string[], limitMs: number): Promise<string | undefined> {
  const child = spawn(command, words, { stdio: ["ignore", "ignore", "pipe"], timeout: limitMs, killSignal: "SIGKILL" });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString("utf8")).slice(-2000)));
  return new Promise((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code === 0 ? undefined : signal === null ? errors.trim() : `it took longer than ${limitMs / 60_000} min`));
  });
}
