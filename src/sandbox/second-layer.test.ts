import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { childArguments, childDirectory, childEnvironment } from "./image.ts";

/** Runs JavaScript with the restrictions of a child, as if a guest had escaped the interpreter. */
function escaped(body: string): string {
  const code = `(async () => { try { console.log("did", await (async () => { ${body} })()) } catch (e) { console.log("denied", e.code ?? e.name, e.cause?.code ?? "") } process.exit(0) })()`;
  const result = spawnSync(process.execPath, [...childArguments([childDirectory]), "-e", code], { env: childEnvironment, timeout: 20_000, encoding: "utf8" });
  return result.stdout.trim() + result.stderr.trim();
}

const directory = mkdtempSync(join(tmpdir(), "spade-layer-"));
const output = join(directory, "out");

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
  rmSync(directory, { recursive: true });
});
