import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { healthySource } from "./fixtures.ts";
import { childArguments, childCommand, childDirectory, childEnvironment } from "./image.ts";
import { openSandbox } from "./pool.ts";
import { bubblewrapCommand, probeBubblewrap } from "./second-layer.ts";
import { createOne, openProgram, testCache } from "./test-sandbox.ts";
import { Canaries } from "./testing/canaries.ts";
import { escapedAttempts, escapedNames, escapedProgram } from "./testing/second-layer-attempts.ts";

vi.setConfig({ testTimeout: 120_000 });

/** What JavaScript prints that runs with the restrictions of a child, as if a guest had escaped the interpreter. */
async function escaped(code: string, restrictions = childArguments([childDirectory])): Promise<string> {
  const child = spawn(process.execPath, [...restrictions, "-e", code], { env: childEnvironment, timeout: 40_000, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
  await once(child, "close");
  return said;
}

const directory = mkdtempSync(join(tmpdir(), "spade-layer-"));
afterAll(() => rmSync(directory, { recursive: true }));

let canaries: Canaries;
let names: ReturnType<typeof escapedNames>;
/** What became of each attempt, in one child. */
let results: Readonly<Record<string, string>> = {};
beforeAll(async () => {
  canaries = await Canaries.lay();
  names = escapedNames(canaries.targets, childDirectory);
  results = JSON.parse(await escaped(escapedProgram(names))) as typeof results;
});
afterAll(() => canaries.remove());

test.each(Object.keys(escapedAttempts))("a full escape cannot %s", (name) => {
  expect(results[name]).toMatch(/^denied (ERR_|MODULE_NOT_FOUND$)/);
});

test("all of these attempts together have no effect on the host", () => {
  expect(Object.keys(results)).toEqual(Object.keys(escapedAttempts));
  expect(canaries.effects(JSON.stringify(results))).toEqual([]);
});

test("without the layer, the same attempts do what they say", async () => {
  const harmless = ["read a file", "import a file", "write a database", "start a process", "connect by TCP", "send by UDP", "connect to a UNIX socket"];
  const did = JSON.parse(await escaped(escapedProgram(names, harmless), [])) as Readonly<Record<string, string>>;
  expect(did["read a file"]).toBe(`did ${canaries.secret}`);
  const effects = canaries.effects(JSON.stringify(did));
  for (const effect of ["it read the secret", "it wrote a file", "it reached TCP", "it reached UDP", "it reached a UNIX socket"]) expect(effects).toContain(effect);
  canaries.reset();
});

test("what the layer does not stop is what the threat model says: signals to processes of the same user", async () => {
  expect(await escaped(`process.kill(process.ppid, 0); console.log("did")`)).toBe("did\n");
});

test("an escape sees a cleared environment", async () => {
  expect(JSON.parse(await escaped(`console.log(JSON.stringify(process.env))`))).toEqual(childEnvironment);
});

/** An executable of ours in bubblewrap's place. */
function stand(name: string, script: string): string {
  const path = join(directory, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}
/** Runs what comes after `--`, as bubblewrap does, and notes that it was asked. */
const passing = (): string => stand("passing", `echo "$@" >> ${JSON.stringify(join(directory, "asked"))}\nwhile [ "$1" != "--" ]; do shift; done\nshift\nexec "$@"`);

test("the command line of bubblewrap: new namespaces, nothing but what is read, nothing of the environment", () => {
  const line = bubblewrapCommand("/usr/bin/bwrap", { command: ["/opt/node", "--permission", "main.ts"], readable: ["/app/child", "/cache/image"], environment: { TZ: "UTC" } });
  const text = line.join(" ");
  expect(line[0]).toBe("/usr/bin/bwrap");
  for (const option of ["--unshare-all", "--die-with-parent", "--cap-drop ALL", "--clearenv", "--setenv TZ UTC", "--remount-ro /"]) expect(text).toContain(option);
  expect(text).not.toMatch(/--(share-net|bind|dev-bind|bind-try|new-session) /);
  expect(line.slice(line.indexOf("--"))).toEqual(["--", "/opt/node", "--permission", "main.ts"]);
  const bound = line.flatMap((word, i) => (word === "--ro-bind" ? [line[i + 1]] : []));
  expect(bound).toEqual(["/opt/node", "/app/child", "/cache/image"]);
  const readOnly = line.flatMap((word, i) => (word === "--ro-bind-try" ? [line[i + 1]] : []));
  expect(readOnly.every((path) => path?.startsWith("/lib") === true || path?.startsWith("/usr/lib") === true || path === "/etc/ld.so.cache")).toBe(true);
});

test("a child's command is wrapped only where bubblewrap works", () => {
  const [program, args] = childCommand(["/x"], ["main.ts"], { active: true, path: "/usr/bin/bwrap" });
  expect([program, ...args]).toContain("/usr/bin/bwrap");
  const plain = childCommand(["/x"], ["main.ts"], { active: false, reason: "none" });
  expect(plain.flat()).not.toContain("/usr/bin/bwrap");
  expect(plain).toEqual(childCommand(["/x"], ["main.ts"]));
});

test.runIf(process.platform === "linux")("the probe tells why bubblewrap cannot be used (Linux)", async () => {
  const reasonOf = async (...candidates: string[]): Promise<string> => {
    const state = await probeBubblewrap({ candidates });
    return state.active ? "active" : state.reason;
  };
  expect(await reasonOf(join(directory, "absent"))).toContain("not installed");
  expect(await reasonOf(stand("refusing", 'echo "bwrap: No permissions to create new namespace" >&2; exit 1'))).toContain("No permissions to create new namespace");
  expect(await reasonOf(stand("silent", "exit 0"))).toContain("did not start Node");
  const unrunnable = join(directory, "unrunnable");
  writeFileSync(unrunnable, "");
  expect(await reasonOf(unrunnable)).toContain("EACCES");
  expect(await probeBubblewrap({ candidates: [passing()], platform: "darwin" })).toMatchObject({ active: false, reason: expect.stringContaining("darwin") as string });
  expect(await reasonOf(passing())).toBe("active");
});

test.runIf(process.platform === "linux")("children start through bubblewrap, or without it where it refuses, and the sandbox says which (Linux)", async () => {
  const wrapped = passing();
  for (const [path, active] of [[wrapped, true], [stand("refusing", "exit 1"), false]] as const) {
    const sandbox = await openSandbox({ lanes: 1, cacheDirectory: testCache, bubblewrapPaths: [path] });
    expect(sandbox.isolation).toMatchObject({ permissionMode: true, permissionGaps: [], bubblewrap: { active }, platform: "linux", node: process.version });
    expect(sandbox.isolation.imageSha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await createOne(await openProgram(sandbox, healthySource), 1)).observation).toContain("start");
    await sandbox.close();
  }
  expect(spawnSync("grep", ["-c", "main.ts", join(directory, "asked")], { encoding: "utf8" }).stdout.trim()).toBe("1");
});
