import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { Config } from "../config/schema.ts";
import { startServer, testModel } from "../policy/tinker/testing/connect.ts";
import { ScriptedEndpoint } from "../policy/openai/testing/scripted-endpoint.ts";
import { testCache } from "../sandbox/test-sandbox.ts";
import { checkDisk, checkIsolation, checkNode, checkPolicy, diagnose, pinnedNodeVersion } from "./doctor.ts";

type TinkerConfig = Extract<Config["policy"], { kind: "tinker" }>;

const directory = mkdtempSync(join(tmpdir(), "spade-doctor-"));
afterAll(() => rmSync(directory, { recursive: true }));
const policies = [{ kind: "embedded", model: "models/nano", threads: 1 }] as const;
const readVariable = (): undefined => undefined;

test("a machine on which everything works", async () => {
  const { findings, isolation } = await diagnose({ cacheDirectory: testCache, policies, readVariable, runs: join(directory, "not", "yet"), pinnedNode: pinnedNodeVersion() });
  expect(findings.map(({ check }) => check)).toEqual(["node", "disk", "model", "image", "sandbox", "isolation"]);
  expect(findings.filter(({ status }) => status === "failed")).toEqual([]);
  expect(isolation).toMatchObject({ permissionMode: true, node: process.version });
});

test("every failure has its advice", async () => {
  const file = join(directory, "file");
  writeFileSync(file, "");
  const { findings, isolation } = await diagnose({ cacheDirectory: join(file, "cache"), policies: [{ kind: "embedded", model: directory, threads: 1 }], readVariable, runs: directory, pinnedNode: "99.0.0" });
  const failed = findings.filter(({ status }) => status === "failed");
  expect(failed.map(({ check }) => check)).toEqual(["node", "model", "image"]);
  for (const { advice } of failed) expect(advice).toMatch(/\w/);
  expect(isolation).toBeUndefined();
});

test("thresholds", () => {
  expect(checkNode("v26.10.0", "26.10.0").status).toBe("ok");
  expect(checkNode("v26.9.0", "26.10.0").status).toBe("warning");
  expect(checkNode("v24.1.0", "26.10.0").status).toBe("failed");
  const gib = 2 ** 30;
  expect([10 * gib, gib, gib / 10].map((free) => checkDisk("disk", "/", { free: () => free }).status)).toEqual(["ok", "warning", "failed"]);
  const isolation = { permissionMode: true, permissionGaps: [], diesWithParent: true, platform: "linux", arch: "x64", node: "v26", pyodide: "1", imageSha256: "" } as const;
  expect(checkIsolation({ ...isolation, bubblewrap: { active: true, path: "/usr/bin/bwrap" } }).status).toBe("ok");
  const gaps = checkIsolation({ ...isolation, permissionGaps: ["network"], bubblewrap: { active: true, path: "/usr/bin/bwrap" } });
  expect(gaps).toMatchObject({ status: "warning", found: expect.stringContaining("without network") as string, advice: expect.stringContaining("network") as string });
  expect(checkIsolation({ ...isolation, bubblewrap: { active: false, reason: "because" } })).toMatchObject({ status: "warning", found: expect.stringContaining("because") as string });
});

describe("a Tinker server", () => {
  const policyFor = (baseUrl: string, changes: Partial<TinkerConfig> = {}): TinkerConfig => {
    const { policy } = loadConfig("paper-games-4b", { policy: { baseUrl, model: testModel, tokenizer: "models/nano", profile: "hosted", ...changes } }).config;
    if (policy.kind !== "tinker") throw new Error("the preset is of another kind");
    return policy;
  };
  const checks = async (policy: TinkerConfig, key?: string): Promise<Record<string, string>> => {
    const findings = await checkPolicy(policy, () => key);
    for (const { status, advice } of findings) expect(advice === undefined).toBe(status === "ok");
    return Object.fromEntries(findings.map(({ check, status, found }) => [check, `${status}: ${found}`]));
  };

  test("that serves the model, with the key set", async () => {
    await using server = await startServer();
    const found = await checks(policyFor(server.baseUrl, { apiKeyEnv: "SOME_KEY" }), "tml-key");
    expect(found["key"]).toBe("ok: SOME_KEY is set");
    expect(found["model"]).toMatch(/^ok: tokenizer in models\/nano/);
    expect(found["endpoint"]).toBe(`ok: ${server.baseUrl} serves ${testModel}, context 32`);
    expect(server.count("create_session"), "nothing is begun").toBe(0);
  });

  test("that serves another model, with the key missing and a directory without tokenizer", async () => {
    await using server = await startServer();
    const found = await checks(policyFor(server.baseUrl, { apiKeyEnv: "SOME_KEY", tokenizer: directory }));
    expect(found["key"]).toMatch(/^failed: .*SOME_KEY/);
    expect(found["model"]).toMatch(/^failed: /);
    expect((await checks(policyFor(server.baseUrl, { model: "another" })))["endpoint"]).toMatch(/^failed: .*serves tests\/tabular-12/);
  });

  test("that is not there is given up at once", async () => {
    const server = await startServer();
    const { baseUrl } = server;
    await server[Symbol.asyncDispose]();
    expect((await checks(policyFor(baseUrl)))["endpoint"]).toMatch(/^failed: /);
  });
});

test("an endpoint of the OpenAI kind", async () => {
  await using server = await ScriptedEndpoint.start({ model: "tests/chat", key: "right" });
  const checks = async (model: string, key: string | undefined): Promise<string[]> => {
    const { policy } = loadConfig("quickstart", { policy: { kind: "openai", baseUrl: server.baseUrl, model, apiKeyEnv: "A_KEY" } }).config;
    return (await checkPolicy(policy, () => key)).map(({ check, status, found }) => `${check} ${status}: ${found}`);
  };
  expect(await checks("tests/chat", "right")).toEqual(["key ok: A_KEY is set", `endpoint ok: ${server.baseUrl} serves tests/chat`]);
  expect(await checks("tests/other", "right")).toEqual([expect.stringContaining("ok"), expect.stringMatching(/endpoint failed: .*tests\/chat/)]);
  expect(await checks("tests/chat", "wrong")).toEqual([expect.stringContaining("ok"), expect.stringMatching(/endpoint failed: .*A_KEY/)]);
  expect(server.bodies).toEqual([]);
});
