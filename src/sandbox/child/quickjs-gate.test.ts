import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { quickJsFiles } from "../image.ts";
import { GuestStop } from "./gate.ts";
import { QuickJsGate, type GuestText } from "./quickjs-gate.ts";
import { wasm } from "./web-assembly.ts";

/** A module with one import: of a function (kind 0, type () -> ()) or of a memory (kind 2). */
function moduleImporting(from: string, name: string, kind: 0 | 2): object {
  const text = (value: string): number[] => [value.length, ...Buffer.from(value)];
  const entry = [...text(from), ...text(name), kind, ...(kind === 0 ? [0] : [0, 1])];
  return new wasm.Module(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, entry.length + 1, 1, ...entry]));
}

function standIn(name: string): { readonly guest: GuestText; readonly written: string[] } {
  const written: string[] = [];
  const memory = { buffer: new ArrayBuffer(64), grow: () => 0 };
  const writeText = (text: string) => ({ pointer: written.push(text), length: text.length });
  return { written, guest: { memory, readText: () => name, writeText } };
}

test("the pinned build imports only what the gate knows", () => {
  const build = new wasm.Module(readFileSync(quickJsFiles.wasmPath));
  expect(() => new QuickJsGate(new Map()).check(build)).not.toThrow();
  expect(wasm.Module.imports(build)).toHaveLength(12);
});

test.each([
  ["env", "host_newcomer", 0],
  ["env", "toString", 0],
  ["wasi_snapshot_preview1", "path_open", 0],
  ["wasi_snapshot_preview1", "sock_send", 0],
  ["elsewhere", "host_call", 0],
  ["__proto__", "toString", 0],
  ["env", "host_call", 2],
] as const)("an import of %s.%s (kind %i) refuses to start", (from, name, kind) => {
  expect(() => new QuickJsGate(new Map()).check(moduleImporting(from, name, kind))).toThrow("refuses to start");
});

test("library modules are found before the lock, nothing after it", () => {
  const gate = new QuickJsGate(new Map([["answers.ts", "export {}"]]));
  const known = standIn("./answers.ts");
  const { env } = gate.imports(() => known.guest);
  const normalize = env?.["host_module_normalize"] as (base: number, name: number) => number;
  normalize(0, 0);
  expect(known.written).toEqual(["answers.ts"]);
  const unknown = gate.imports(() => standIn("node:fs").guest)["env"]?.["host_module_normalize"] as typeof normalize;
  expect(() => unknown(0, 0)).toThrow(GuestStop);
  gate.lock();
  expect(() => normalize(0, 0)).toThrow("not available");
});

test("host functions are denied; files do not exist; fuel and time end a call", () => {
  const gate = new QuickJsGate(new Map());
  const { env, wasi_snapshot_preview1: wasi } = gate.imports(() => standIn("").guest);
  expect(() => (env?.["host_call"] as () => number)()).toThrow("not available");
  for (const name of ["fd_write", "fd_close", "fd_seek", "fd_fdstat_get"]) expect((wasi?.[name] as () => number)()).toBe(8);
  const interrupt = env?.["host_interrupt"] as () => number;
  gate.begin({ fuel: 500, deadlineMs: Infinity, ordinal: 0 });
  expect([interrupt(), interrupt()]).toEqual([0, 0]);
  expect(() => interrupt()).toThrow("fuel");
  gate.begin({ fuel: 1e9, deadlineMs: 0, ordinal: 0 });
  expect(() => interrupt()).toThrow("wall limit");
});
