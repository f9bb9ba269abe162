import { afterEach, expect, test } from "vitest";
import { ImportGate } from "./gate.ts";
import { wasm } from "./web-assembly.ts";

const { instantiate } = wasm;
afterEach(() => {
  wasm.instantiate = instantiate;
});

/** An empty module: instantiates with any imports. */
const empty = Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);

function imports(env: Record<string, unknown>): Record<string, Record<string, unknown>> {
  return { env, wasi_snapshot_preview1: env, "GOT.mem": {}, "GOT.func": {} };
}

/** Instantiates behind a new gate; the empty module has no memory, so a stand-in is given. */
async function gated(env: Record<string, unknown>): Promise<ImportGate> {
  const gate = new ImportGate(0);
  Object.defineProperty(gate, "memory", { value: { buffer: new ArrayBuffer(65536), grow: () => 1 } });
  gate.install();
  await wasm.instantiate(empty, imports(env));
  return gate;
}

test("an import that is not a function refuses to start", async () => {
  await expect(gated({ odd: 5 })).rejects.toThrow("odd is not a function");
  await expect(gated({ odd: { call: () => 1 } })).rejects.toThrow("odd is not a function");
});

test("unknown import modules and separate WASI imports refuse to start", async () => {
  new ImportGate(0).install();
  await expect(wasm.instantiate(empty, { ...imports({}), extra: {} })).rejects.toThrow("unknown import module extra");
  await expect(wasm.instantiate(empty, { ...imports({}), wasi_snapshot_preview1: {} })).rejects.toThrow("differ");
});

test("functions are replaced in place, keep their signature, and are denied after the lock unless known", async () => {
  const newcomer = Object.assign(() => 42, { sig: "ii" });
  const env: Record<string, unknown> = { newcomer, __syscall_openat: () => 7, __syscall_socket: () => 7, fd_pwrite: () => 7, _mktime_js: () => 7, proc_exit: () => 7, syncifyHandler: {} };
  const gate = await gated(env);
  const call = (name: string): unknown => (env[name] as () => unknown)();
  expect(env["newcomer"]).not.toBe(newcomer);
  expect((env["newcomer"] as { sig?: string }).sig).toBe("ii");
  expect(call("newcomer")).toBe(42);
  gate.lock(0);
  expect(() => call("newcomer")).toThrow("newcomer is not available");
  expect(() => call("syncifyHandler")).toThrow("not available");
  expect(() => call("proc_exit")).toThrow("ended the process");
  expect(call("__syscall_openat")).toBe(-63);
  expect(call("fd_pwrite")).toBe(63);
  expect(call("_mktime_js")).toBe(7);
  expect(gate.denials).toEqual(["newcomer", "syncifyHandler", "fd_pwrite"]);
  expect(call("__syscall_socket")).toBe(-63);
  expect(gate.denials).toContain("__syscall_socket");
});

test("after the lock nothing is instantiated", async () => {
  const gate = await gated({});
  gate.lock(0);
  await expect(wasm.instantiate(empty)).rejects.toThrow("after the lock");
});
