import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { healthySource } from "./fixtures.ts";
import { childArguments, childCommand, childDirectory, childEnvironment } from "./image.ts";
import { openSandbox } from "./pool.ts";
import { bubblewrapCommand, probeBubblewrap } from "./second-layer.ts";
import { createOne, openProgram, testCache } from "./test-sandbox.ts";

/** Runs JavaScript with the restrictions of a child, as if a guest had escaped the interpreter. */
function escaped(body: string): string {
  const code = `(async () => { try { console.log("did", await (async () => { ${body} })()) } catch (e) { console.log("denied", e.code ?? e.name, e.cause?.code ?? "") } process.exit(0) })()`;
  const result = spawnSync(process.execPath, [...childArguments([childDirectory]), "-e", code], { env: childEnvironment, timeout: 20_000, encoding: "utf8" });
  return result.stdout.trim() + result.stderr.trim();
}

const directory = mkdtempSync(join(tmpdir(), "spade-layer-"));
const output = join(directory, "out");
afterAll(() => rmSync(directory, { recursive: true }));

test.each([
  ["read a file", `return require("fs").readFileSync("/etc/hostname", "utf8")`],
  ["list a directory", `return require("fs").readdirSync("/")`],
  ["write a file", `require("fs").writeFileSync(${JSON.stringify(output)}, "x")`],
  ["start a process", `return require("child_process").execFileSync("touch", [${JSON.stringify(output)}])`],
  ["start a worker", `new (require("worker_threads").Worker)("1", { eval: true })`],
  ["load an add-on", `process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6")`],
  ["use WASI", `new (require("wasi").WASI)({ version: "preview1" })`],
  ["open the inspector", `require("inspector").open(0)`],
  ["internal bindings", `return process.binding("spawn_sync")`],
])("a full escape cannot %s", (_name, body) => {
  expect(escaped(body)).toMatch(/^denied ERR_/);
  expect(existsSync(output)).toBe(false);
});

test("a full escape reaches no network and no environment", async () => {
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  expect(escaped(`return new Promise((ok, no) => { const s = require("net").connect(${port}, "127.0.0.1"); s.on("connect", () => ok("connected")); s.on("error", no); })`)).toMatch(/^denied/);
  expect(escaped(`return (await fetch("http://127.0.0.1:${port}")).status`)).toMatch(/^denied/);
  expect(JSON.parse(escaped("return JSON.stringify(process.env)").replace(/^did /, ""))).toEqual(childEnvironment);
  expect(connections).toBe(0);
  server.close();
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
    expect(sandbox.isolation).toMatchObject({ permissionMode: true, bubblewrap: { active }, platform: "linux", node: process.version });
    expect(sandbox.isolation.imageSha256).toMatch(/^[0-9a-f]{64}$/);
    expect((await createOne(await openProgram(sandbox, healthySource), 1)).observation).toContain("start");
    await sandbox.close();
  }
  expect(spawnSync("grep", ["-c", "main.ts", join(directory, "asked")], { encoding: "utf8" }).stdout.trim()).toBe("1");
});
