import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { randomUUID } from "node:crypto";
import { sha256 } from "../core/digest.ts";
import { messageOf, SpadeError } from "../core/errors.ts";
import { type BubblewrapState, bubblewrapCommand } from "./second-layer.ts";

/** The base image of an interpreter: memory of a booted Python with driver and library loaded. */
export interface Image {
  readonly path: string;
  readonly sha256: string;
  /** Addresses of the guest's functions in the image. */
  readonly dispatchPointer: number;
  readonly lockPointer: number;
}

const here = dirname(fileURLToPath(import.meta.url));

const require = createRequire(import.meta.url);

/** Directory of the pinned Pyodide package. */
export const pyodideDirectory = dirname(require.resolve("pyodide"));
/** Version of the pinned Pyodide package. */
export function pyodideVersion(): string {
  return (JSON.parse(readFileSync(join(pyodideDirectory, "package.json"), "utf8")) as { version: string }).version;
}
/** Files of the child; the only code it may read. */
export const childDirectory = join(here, "child");
const guestDirectory = join(here, "guest");
/** What a child needs for TypeScript programs: the QuickJS build and the directory of the guest library. */
export const quickJsFiles = { wasmPath: require.resolve("quickjs-wasi/quickjs.wasm"), guestDirectory };

/** Stack of a child in KiB: deep enough that most deep recursions end as RecursionError in the guest. */
export const childStackKiB = 4000;

/** Where images are kept when the caller names no directory. */
export function defaultCacheDirectory(): string {
  return join(homedir(), ".cache", "spade-rl");
}

/**
 * Built-in modules that a child must not have: SQLite opens files behind the back of permission mode (Node 26.10 writes them
 * without asking), FFI and web storage are not needed. A version of Node without the module does not know the flag.
 */
const withoutModules = ["--no-experimental-sqlite", "--no-experimental-ffi", "--no-experimental-webstorage"].filter((flag) => process.allowedNodeEnvironmentFlags.has(flag));

/** Arguments of a child under Node's permission mode that may read `paths` and nothing else. */
export function childArguments(paths: readonly string[]): string[] {
  return ["--permission", "--no-warnings", ...withoutModules, `--stack-size=${childStackKiB}`, ...paths.map((path) => `--allow-fs-read=${path}`)];
}

/** A program that lets a child die with its parent, where the platform has one (Linux with util-linux). */
export const withParent = ["/usr/bin/setpriv", "/bin/setpriv"].find((path) => process.platform === "linux" && existsSync(path));

/** Environment of a child: nothing but a fixed time zone. */
export const childEnvironment: Readonly<Record<string, string>> = { TZ: "UTC" };

/**
 * Command line of a child: Node under its restrictions, inside bubblewrap where that works. A child in an endless native loop
 * cannot see that its parent was killed, hence setpriv.
 */
export function childCommand(readable: readonly string[], script: readonly string[], bubblewrap?: BubblewrapState): readonly [string, string[]] {
  const node = [process.execPath, ...childArguments(readable), ...script];
  const wrapped = bubblewrap?.active === true ? bubblewrapCommand(bubblewrap.path, { command: node, readable, environment: childEnvironment }) : node;
  const command = withParent === undefined ? wrapped : [withParent, "--pdeathsig", "KILL", ...wrapped];
  return [command[0] ?? process.execPath, command.slice(1)];
}

/**
 * The cached image for this Pyodide and these guest sources; builds it (a few seconds) when there is none or its digest is wrong.
 * @throws sandbox.image when it cannot be built or written.
 */
export async function ensureImage(cacheDirectory: string): Promise<Image> {
  const base = join(cacheDirectory, `python-${await imageKey()}`);
  const cached = await readImage(base);
  return cached ?? (await buildImage(cacheDirectory, base));
}

/** Changes with whatever goes into an image. */
async function imageKey(): Promise<string> {
  const guest = (await readdir(guestDirectory)).filter((name) => name.endsWith(".py")).map((name) => join(guestDirectory, name));
  const host = ["build.ts", "library.ts", "gate.ts", "imports.ts", "interpreter.ts"].map((name) => join(childDirectory, name));
  const files = [...guest.sort(), ...host, join(pyodideDirectory, "package.json")];
  const contents = await Promise.all(files.map(async (file) => sha256(await readFile(file))));
  return sha256(contents.join("\n")).slice(0, 16);
}

async function readImage(base: string): Promise<Image | undefined> {
  try {
    const [sidecar, bytes] = await Promise.all([readFile(`${base}.json`, "utf8"), readFile(`${base}.image`)]);
    const image = JSON.parse(sidecar) as Omit<Image, "path">;
    return image.sha256 === sha256(bytes) ? { ...image, path: `${base}.image` } : undefined;
  } catch {
    // Absent or unreadable: the same as no image.
    return undefined;
  }
}

async function buildImage(cacheDirectory: string, base: string): Promise<Image> {
  const temporary = `${base}.${randomUUID()}.tmp`;
  // Before the build: an unwritable directory should not take seconds to tell.
  await writing(cacheDirectory, async () => {
    await mkdir(cacheDirectory, { recursive: true });
    await writeFile(temporary, "");
  });
  const output = await runBuild().finally(() => rm(temporary, { force: true }));
  const newline = output.indexOf(10);
  const [dispatchPointer = NaN, lockPointer = NaN] = output.subarray(0, newline).toString("utf8").split(" ").map(Number);
  const bytes = output.subarray(newline + 1);
  if (!Number.isSafeInteger(dispatchPointer) || !Number.isSafeInteger(lockPointer) || bytes.length < 2 ** 20) {
    throw new SpadeError("sandbox.image", `The interpreter image builder wrote ${output.length} bytes without a valid header. Reinstall the package (npm ci).`);
  }
  const sidecar = { sha256: sha256(bytes), dispatchPointer, lockPointer };
  await writing(cacheDirectory, async () => {
    await writeFile(temporary, bytes);
    await rename(temporary, `${base}.image`);
    await writeFile(temporary, JSON.stringify(sidecar));
    await rename(temporary, `${base}.json`);
  });
  return { ...sidecar, path: `${base}.image` };
}

/** Runs something that writes to the cache; its failure names the directory. */
async function writing(cacheDirectory: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const message = `Cannot write the interpreter image to ${cacheDirectory}: ${messageOf(error)}. Make it writable, or choose another cache directory.`;
    throw new SpadeError("sandbox.image", message, { cause: error });
  }
}

/** Runs the builder in a child with the same restrictions as the children that run programs. */
function runBuild(): Promise<Buffer> {
  const frames = [join(here, "frames.ts"), join(here, "messages.ts")];
  const readable = [pyodideDirectory, childDirectory, guestDirectory, ...frames];
  const child = spawn(...childCommand(readable, [join(childDirectory, "build.ts"), pyodideDirectory, guestDirectory]), {
    env: childEnvironment,
    stdio: ["ignore", "ignore", "pipe", "ignore", "pipe"],
  });
  const chunks: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdio[4]?.on("data", (chunk: Buffer) => chunks.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      const said = Buffer.concat(errors).toString("utf8").slice(-2000);
      reject(new SpadeError("sandbox.image", `Building the interpreter image failed: ${why}. ${said}`));
    };
    child.once("error", (error) => fail(error.message));
    child.once("close", (status) => (status === 0 ? resolve(Buffer.concat(chunks)) : fail(`exit status ${String(status)}`)));
  });
}
