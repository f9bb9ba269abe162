import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { loadTokenizer } from "../src/engine/bpe.ts";
import { scriptedPolicy } from "../src/policy/scripted.ts";
import { written } from "../src/selfplay/testing/scripted-loop.ts";
import { ScriptedServer, type Fault } from "../src/policy/tinker/testing/scripted-server.ts";
import { policyModel, type ServedModel } from "../src/policy/tinker/testing/served-model.ts";
import { RunStore } from "../src/storage/run-store.ts";
import { digestOf, eventsOf, packageRoot, spade, workDirectory, writeConfig } from "./command.ts";

vi.setConfig({ testTimeout: 180_000 });
const { path, remove } = workDirectory();
afterAll(remove);

const baseModel = "tests/scripted";
const game = readFileSync(join(packageRoot, "test/suite/even_step.py"), "utf8");

/** A model that writes one sound game, and plays by the seed. */
async function servedModel(): Promise<ServedModel> {
  const tokenizer = await loadTokenizer(join(packageRoot, "models/nano/tokenizer.json"));
  const respond = ({ messages, seed }: { readonly messages: readonly { readonly text: string }[]; readonly seed: number }): string => {
    const system = messages[0]?.text ?? "";
    return system === "designer" ? written(game) : system === "hint" ? "Count in twos." : `\\boxed{${seed % 2 === 0 ? "2" : "3"}}`;
  };
  return policyModel(scriptedPolicy({ tokenizer, respond, contextLength: 1024 }));
}

async function serve(disk: Map<string, ServedModel>, faults: readonly Fault[] = []): Promise<ScriptedServer> {
  const model = await servedModel();
  return ScriptedServer.start({ baseModel, contextLength: 1024, newModel: () => model, disk, faults });
}

function config(name: string, baseUrl: string, changes: object = {}): string {
  return writeConfig(path(`${name}.json`), {
    policy: { kind: "tinker", baseUrl, model: baseModel, tokenizer: "models/nano", profile: "hosted", requestTimeoutMs: 2000, ...changes },
    run: { iterations: 2 },
    design: { sampling: { temperature: 1 } },
    update: { loss: { entropyCoefficient: 0 } },
  });
}

describe("spade train against a Tinker server", () => {
  test("trains, saves on the server, and resumes after the server was replaced", async () => {
    const disk = new Map<string, ServedModel>();
    await using server = await serve(disk);
    const run = path("run");
    const finished = await spade("train", config("plain", server.baseUrl), "--out", run, "--json");
    expect(finished.code, finished.stderr).toBe(0);
    expect(server.count("optim_step")).toBeGreaterThan(0);
    expect(server.requests.at(-1), "the adapter is freed").toBe("unload_model");
    const checkpoint = JSON.parse(readFileSync(join(run, "checkpoints/000002/policy.json"), "utf8")) as { tinker: { path: string } };
    expect([...disk.keys()]).toContain(checkpoint.tinker.path);
    const store = RunStore.openReadOnly(run);
    expect([...store.rows("updates")].length).toBeGreaterThan(0);
    store.close();
    expect(eventsOf(finished).at(-1)?.kind).toBe("end");
    expect(digestOf(await spade("train", "--resume", run, "--json"))).toBe(digestOf(finished));
  });

  test("a server that dies in the middle of an update: the record is whole, the batch is saved, --resume ends as an undisturbed run", async () => {
    const disk = new Map<string, ServedModel>();
    const run = path("dies");
    let port: number;
    let code = "";
    {
      await using server = await serve(disk, [{ at: "optim_step", kind: "status", status: 400, body: { detail: "injected" } }]);
      port = Number(new URL(server.baseUrl).port);
      const failed = await spade("train", config("dies", server.baseUrl), "--out", run, "--json");
      code = failed.stderr;
      expect(failed.code).toBe(1);
      const batch = readdirSync(run).find((name) => name.startsWith("failed-update-"));
      expect(batch).toBeDefined();
      const saved = JSON.parse(readFileSync(join(run, batch ?? ""), "utf8")) as { error: { code: string }; batch: { rows: unknown[] } };
      expect(saved.error.code).toBe("policy.request");
      expect(saved.batch.rows.length).toBeGreaterThan(0);
      const resumed = await spade("train", "--resume", run, "--json");
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(server.count("load_weights")).toBe(1);
    }
    expect(code).toMatch(/^policy\.request: .*--resume/s);
    expect(port).toBeGreaterThan(0);
  });

  test("a key comes from the environment only, and a missing one is named", async () => {
    await using server = await serve(new Map());
    const missing = await spade("train", config("key", server.baseUrl, { apiKeyEnv: "SPADE_TEST_NO_SUCH_KEY" }), "--out", path("key"));
    expect(missing.code).toBe(1);
    expect(missing.stderr).toMatch(/^http\.key: .*SPADE_TEST_NO_SUCH_KEY/);
    expect(existsSync(path("key"))).toBe(false);
    writeFileSync(path("inline.json"), JSON.stringify({ policy: { kind: "tinker", baseUrl: server.baseUrl, model: "m", tokenizer: "models/nano", profile: "hosted", apiKeyEnv: "tml-a-key-itself" } }));
    const inline = await spade("train", path("inline.json"), "--out", path("inline"));
    expect(inline.code).toBe(2);
    expect(inline.stderr).toContain("never the key itself");
  });

  test("what Tinker servers cannot train is refused before anything is sent", async () => {
    const refused = await spade("train", writeConfig(path("refused.json"), { policy: { kind: "tinker", baseUrl: "http://127.0.0.1:9", model: "m", tokenizer: "models/nano", profile: "hosted" }, update: { loss: { entropyCoefficient: 0.01 } } }), "--out", path("refused"));
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("update.loss.entropyCoefficient");
  });
});
