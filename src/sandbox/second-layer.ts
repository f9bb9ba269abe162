import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, SpadeError } from "../core/errors.ts";

/** Whether children are wrapped in bubblewrap, and if not, why. */
export type BubblewrapState = { readonly active: true; readonly path: string } | { readonly active: false; readonly reason: string };

/** Whether to use bubblewrap: where it works, never, or as a condition. */
export type BubblewrapUse = "auto" | "off" | "required";

/** What stands between an escaped program and the host. Recorded with a run; depends on the machine. */
export interface Isolation {
  /** Node's permission mode: no files but a child's own, no network, processes, workers, add-ons, WASI, but for the gaps. Always on. */
  readonly permissionMode: true;
  /** What the permission mode of this Node leaves open, such as `network` before Node 25; empty for the pinned Node. */
  readonly permissionGaps: readonly string[];
  readonly bubblewrap: BubblewrapState;
  /** Children die with a killed parent even in an endless native loop (setpriv or bubblewrap). */
  readonly diesWithParent: boolean;
  readonly platform: string;
  readonly arch: string;
  readonly node: string;
  readonly pyodide: string;
  /** SHA-256 of the interpreter image. */
  readonly imageSha256: string;
}

/** What a child is started with before bubblewrap is added. */
export interface PlainCommand {
  readonly command: readonly string[];
  /** Files and directories it reads. */
  readonly readable: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Where bubblewrap is looked for; the search path is not consulted. */
export const bubblewrapPaths: readonly string[] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"];

/** What a dynamically linked Node needs; bound where it exists. */
const systemLibraries = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"];

/** User and group a wrapped child has inside its namespace: nobody. */
const nobody = "65534";

const probeLimitMs = 10_000;

/**
 * Command line of a child inside bubblewrap: own user, process, network, mount and other namespaces, no capabilities, an empty
 * environment but for what is given, and a file system of what it reads and nothing else. Inherited descriptors stay open, and
 * the process group stays the caller's, so that killing the group ends it.
 */
export function bubblewrapCommand(path: string, { command, readable, environment }: PlainCommand): readonly string[] {
  const [program = ""] = command;
  const variables = Object.entries(environment).flatMap(([name, value]) => ["--setenv", name, value]);
  const libraries = systemLibraries.flatMap((library) => ["--ro-bind-try", library, library]);
  const own = [...new Set([program, ...readable])].flatMap((file) => ["--ro-bind", file, file]);
  return [
    path,
    ...["--unshare-all", "--die-with-parent", "--cap-drop", "ALL", "--uid", nobody, "--gid", nobody, "--hostname", "sandbox"],
    ...["--clearenv", ...variables, "--proc", "/proc", "--dev", "/dev", ...libraries, ...own],
    ...["--remount-ro", "/", "--chdir", "/", "--", ...command],
  ];
}

/**
 * Finds out once whether children can be wrapped: starts the pinned Node inside bubblewrap and waits for a word over the
 * descriptor that children speak on. Never throws: what goes wrong is the reason why it is not used.
 */
export async function probeBubblewrap(options: { readonly candidates?: readonly string[]; readonly platform?: string } = {}): Promise<BubblewrapState> {
  const { candidates = bubblewrapPaths, platform = process.platform } = options;
  if (platform !== "linux") return { active: false, reason: `bubblewrap is for Linux only, this is ${platform}` };
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path === undefined) return { active: false, reason: "bwrap is not installed (Debian, Ubuntu, Fedora: package bubblewrap)" };
  const command = [process.execPath, "--permission", "--no-warnings", "-e", 'require("fs").writeSync(4, "inside")'];
  const failure = await tryCommand(bubblewrapCommand(path, { command, readable: [dirname(process.execPath)], environment: {} }));
  return failure === undefined ? { active: true, path } : { active: false, reason: `${path} does not work here: ${failure}` };
}

/**
 * Bubblewrap as the user wants it.
 * @throws sandbox.bubblewrap when it is required and does not work here
 */
export async function chooseBubblewrap(use: BubblewrapUse, candidates?: readonly string[]): Promise<BubblewrapState> {
  if (use === "off") return { active: false, reason: "it is switched off (sandbox.bubblewrap: off)" };
  const state = await probeBubblewrap(candidates === undefined ? {} : { candidates });
  if (use === "auto" || state.active) return state;
  throw new SpadeError("sandbox.bubblewrap", `Bubblewrap is required (sandbox.bubblewrap: required), but ${state.reason}. Install it and allow unprivileged user namespaces, or set sandbox.bubblewrap to auto.`);
}

/**
 * What the permission mode of a Node with these flags does not deny.
 * @throws sandbox.node when it has no permission mode: children are not started without
 */
export function permissionGaps(flags: ReadonlySet<string> = process.allowedNodeEnvironmentFlags, version = process.version): string[] {
  if (!flags.has("--permission")) throw new SpadeError("sandbox.node", `Node ${version} has no permission mode (--permission), and children do not run without. Start it with the pinned Node: npx spade.`);
  return Object.entries({ "--allow-net": "network", "--allow-inspector": "inspector" }).flatMap(([flag, what]) => (flags.has(flag) ? [] : [what]));
}

/** The layers that are active, in one line for people. */
export function describeIsolation({ platform, node, permissionGaps: gaps, bubblewrap, diesWithParent }: Isolation): string {
  const permission = gaps.length === 0 ? "permission mode" : `permission mode without ${gaps.join(", ")} (Node ${node})`;
  const layers = ["import gate", permission, ...(bubblewrap.active ? ["bubblewrap"] : []), ...(diesWithParent ? ["children die with their parent"] : [])];
  return `${platform}: ${layers.join(", ")}${bubblewrap.active ? "" : `; without bubblewrap: ${bubblewrap.reason}`}`;
}

/** Runs a command that must say "inside" on descriptor 4; why it did not, if it did not. */
function tryCommand([program = "", ...args]: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env: {}, timeout: probeLimitMs, killSignal: "SIGKILL", stdio: ["ignore", "ignore", "pipe", "ignore", "pipe"] });
    let [said, errors] = ["", ""];
    child.stdio[4]?.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
    child.stderr?.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString("utf8")).slice(-500)));
    child.once("error", (error) => resolve(messageOf(error)));
    child.once("close", (status, signal) => {
      if (said === "inside" && status === 0) resolve(undefined);
      else resolve(errors.trim() === "" ? `it ended with ${signal ?? `status ${String(status)}`} and did not start Node` : errors.trim());
    });
  });
}
