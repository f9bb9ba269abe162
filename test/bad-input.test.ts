import { closeSync, cpSync, existsSync, openSync, readFileSync, readdirSync, statSync, truncateSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { loadConfig } from "../src/config/load.ts";
import { sha256 } from "../src/core/digest.ts";
import { packagePath } from "../src/selfplay/paths.ts";
import { RunStore } from "../src/storage/run-store.ts";
import { copyRun, digestOf, eventsOf, spade, spadeInShell, workDirectory, writeConfig } from "./command.ts";
import type { Finished } from "./command.ts";

vi.setConfig({ testTimeout: 180_000 });
const { path, remove } = workDirectory();
const config = writeConfig(path("config.json"), { run: { iterations: 2 } });
const model = packagePath(loadConfig(config).config.policy.model);
/** A finished run; tests that change it work on copies. */
const run = path("run");
let digest = "";

beforeAll(async () => {
  const finished = await spade("train", config, "--out", run, "--json");
  expect(finished.stderr).toBe("");
  digest = digestOf(finished);
}, 300_000);
afterAll(remove);

/** Checks that a command failed with a named error that says all of `parts`. */
function expectError(finished: Finished, expected: { readonly exit: 1 | 2; readonly code: string; readonly says: readonly string[] }): void {
  expect(finished.stderr).toMatch(new RegExp(`^${expected.code}: `, "m"));
  for (const part of expected.says) expect(finished.stderr).toContain(part);
  expect(finished.stderr, "a stack trace is no message").not.toMatch(/^ {4}at /m);
  expect(finished.code).toBe(expected.exit);
}

const recordOf = (directory: string): string => sha256(readFileSync(join(directory, "run.sqlite")));

/** Overwrites bytes of a file. */
function scribble(file: string, position: number, bytes: number): void {
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(bytes, 0xa5), 0, bytes, position);
  closeSync(descriptor);
}

describe("usage and configuration: exit code 2", () => {
  const badConfig = (name: string, content: string): string => {
    writeFileSync(path(name), content);
    return path(name);
  };
  const cases: readonly (readonly [string, readonly string[], { readonly code: string; readonly says: readonly string[] }])[] = [
    ["an unknown preset", ["train", "quickstrat"], { code: "config.unknownPreset", says: ['"quickstrat"', "quickstart", ".json"] }],
    ["an unknown key", ["train", badConfig("key.json", '{"extends":"smoke","design":{"tasksPerIterations":3}}')], { code: "config.unknownKey", says: ["key.json", "design.tasksPerIterations", "tasksPerIteration"] }],
    ["a value out of range", ["train", badConfig("value.json", '{"update":{"optimiser":{"minibatches":0}}}')], { code: "config.invalid", says: ["update.optimiser.minibatches"] }],
    ["a file that is no JSON", ["train", badConfig("half.json", '{"extends":')], { code: "config.file", says: ["half.json"] }],
    ["a file that is not there", ["train", "no/such/file.json"], { code: "config.file", says: ["no/such/file.json"] }],
    ["sampling that the loss does not model (invariant 10)", ["train", badConfig("topk.json", '{"play":{"sampling":{"topK":5}}}')], { code: "config.samplingMismatch", says: ["play.sampling", "topK", "allowSamplingMismatch"] }],
    ["an unknown option", ["train", "smoke", "--iteration", "3"], { code: "usage.option", says: ["--iteration", "train --help"] }],
    ["a number that is none", ["train", "smoke", "--iterations", "many"], { code: "usage.number", says: ["--iterations", '"many"'] }],
    ["no preset", ["train"], { code: "usage.missing", says: ["train <preset"] }],
    ["--resume with a preset", ["train", "smoke", "--resume", "runs/x"], { code: "usage.resume", says: ['"smoke"'] }],
    ["neither run nor model", ["evaluate", "no/such/place"], { code: "usage.model", says: ["no/such/place"] }],
    ["an unknown environment", ["env", "show", run, "9.9.9"], { code: "usage.environment", says: ['"9.9.9"', "env list"] }],
    ["an unknown suite", ["evaluate", run, "--suite", "no/suite"], { code: "usage.suite", says: ["no/suite"] }],
  ];
  test.each(cases)("%s", async (_name, words, expected) => {
    expectError(await spade(...words), { exit: 2, ...expected });
  });
});

describe("corpus, model and place: an error before anything is recorded", () => {
  const start = async (name: string, changes: unknown, expected: { readonly code: string; readonly says: readonly string[] }): Promise<void> => {
    const out = path(`out-${name}`);
    expectError(await spade("train", writeConfig(path(`${name}.json`), changes), "--out", out), { exit: 1, ...expected });
    expect(existsSync(out)).toBe(false);
  };
  const corpus = (name: string, content: string): unknown => {
    writeFileSync(path(name), content);
    return { corpus: { paths: [path(name)] } };
  };
  const line = '{"text":"A ferry crosses the river."}\n';

  test("a malformed line", () => start("malformed", corpus("malformed.jsonl", `${line}{"text":\n`), { code: "corpus.line", says: ["malformed.jsonl", "Line 2"] }));
  test("an empty line", () => start("blank", corpus("blank.jsonl", `${line}\n${line}`), { code: "corpus.line", says: ["blank.jsonl", "Line 2", "empty"] }));
  test("a line without text", () => start("textless", corpus("textless.jsonl", '{"id":"a"}\n'), { code: "corpus.line", says: ["textless.jsonl", "Line 1", '"text"'] }));
  test("an empty file", () => start("empty", corpus("empty.jsonl", ""), { code: "corpus.empty", says: ["empty.jsonl"] }));
  test("a missing file", () => start("absent", { corpus: { paths: [path("absent.jsonl")] } }, { code: "corpus.file", says: ["absent.jsonl"] }));

  test("a missing model", () => start("modelless", { policy: { model: path("no-model") } }, { code: "engine.tokenizer", says: ["no-model"] }));
  test("truncated weights", async () => {
    const damaged = path("damaged-model");
    cpSync(model, damaged, { recursive: true });
    truncateSync(join(damaged, "weights.safetensors"), 1000);
    await start("truncated", { policy: { model: damaged } }, { code: "engine.weights", says: ["damaged-model", "weights.safetensors"] });
  });

  test("a place that cannot hold a run", async () => {
    writeFileSync(path("file"), "");
    expectError(await spade("train", config, "--out", join(path("file"), "run")), { exit: 1, code: "storage.write", says: [path("file"), "writable"] });
  });

  test("an existing run is never overwritten", async () => {
    const before = recordOf(run);
    expectError(await spade("train", config, "--out", run), { exit: 1, code: "storage.exists", says: [run, "--resume"] });
    expect(recordOf(run)).toBe(before);
  });
});

describe("a full disk", () => {
  test("stops the run with an error; resumed with room, it ends as an uninterrupted run", async () => {
    const full = path("full");
    const blocks = Math.floor(statSync(join(model, "weights.safetensors")).size / 1024 / 2);
    expectError(await spadeInShell(`trap '' XFSZ; ulimit -f ${blocks}`, "train", config, "--out", full, "--json"), { exit: 1, code: "engine.write", says: [full, "free disk space"] });
    expect(digestOf(await spade("train", "--resume", full, "--json"))).toBe(digest);
  });
});

describe("damaged runs", () => {
  test("no run there", async () => {
    for (const words of [["train", "--resume"], ["runs", "show"], ["env", "list"]]) {
      expectError(await spade(...words, path("nothing")), { exit: 1, code: "storage.missing", says: [path("nothing")] });
    }
    expect(existsSync(path("nothing"))).toBe(false);
  });

  test.each([
    ["a database without its beginning", 0],
    ["a database with a hole", 4096 * 3],
  ])("%s", async (name, position) => {
    const damaged = copyRun(run, path(name));
    scribble(join(damaged, "run.sqlite"), position, 4096 * 8);
    const before = recordOf(damaged);
    for (const words of [["train", "--resume"], ["runs", "show"], ["env", "list"]]) {
      expectError(await spade(...words, damaged), { exit: 1, code: "storage.corrupt", says: ["run.sqlite", "Nothing was changed"] });
    }
    expect(recordOf(damaged)).toBe(before);
  });

  test("a run made by another version", async () => {
    const other = path("other-version");
    const { config: resolved, digest: configDigest } = loadConfig(config);
    RunStore.create(other, { name: "other", programVersion: "0.0.1-other", config: resolved, configDigest, provenance: {} }).close();
    const before = recordOf(other);
    expectError(await spade("train", "--resume", other), { exit: 1, code: "storage.version", says: ["0.0.1-other", other] });
    expect(recordOf(other)).toBe(before);
  });

  test.each([
    ["truncated weights", (checkpoint: string) => truncateSync(join(checkpoint, "weights.safetensors"), 1000)],
    ["changed optimiser state", (checkpoint: string) => scribble(join(checkpoint, "optimiser.safetensors"), 5000, 8)],
  ])("the newest checkpoint has %s: the older one is used and the iteration made again", async (name, damage) => {
    const damaged = copyRun(run, path(name));
    damage(join(damaged, "checkpoints", "000002"));
    const resumed = await spade("train", "--resume", damaged, "--json");
    const begin = eventsOf(resumed).find((event) => event.kind === "start");
    expect(begin?.from).toBe(2);
    expect(begin?.notes.join()).toContain("000002");
    expect(digestOf(resumed)).toBe(digest);
  });
});

describe("a finished run", () => {
  const json = async (...words: readonly string[]): Promise<unknown> => {
    const finished = await spade(...words, "--json");
    expect(finished.code, finished.stderr).toBe(0);
    return JSON.parse(finished.stdout);
  };

  test("resumed, it tells its digest and changes nothing", async () => {
    const before = recordOf(run);
    const resumed = await spade("train", "--resume", run, "--json");
    expect(resumed.code).toBe(0);
    expect(digestOf(resumed)).toBe(digest);
    expect(recordOf(run)).toBe(before);
  });

  test("is listed and shown", async () => {
    const broken = path("broken");
    cpSync(run, broken, { recursive: true });
    scribble(join(broken, "run.sqlite"), 0, 4096);
    const listed = await json("runs", "list", path("."));
    expect(listed).toContainEqual(expect.objectContaining({ directory: run, iterations: 2, planned: 2 }));
    expect(listed, "a damaged run does not hide the others").toContainEqual({ directory: broken, error: expect.stringMatching(/^storage.corrupt: /) as unknown });
    expect(await json("runs", "show", run)).toMatchObject({ directory: run, digest, iterations: 2 });
    const plain = await spade("runs", "show", run);
    expect(plain.stdout).toContain(digest.slice(0, 16));
  });

  test("a run tells what stood between its environment programs and the machine", () => {
    using store = RunStore.openReadOnly(run);
    expect(store.header.provenance["sandbox"]).toMatchObject({ permissionMode: true, node: process.version, imageSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  });

  test("its environments are listed and shown", async () => {
    const listed = (await json("env", "list", run)) as readonly { readonly id: string }[];
    expect(listed.length).toBeGreaterThan(0);
    const { id } = listed[0] ?? { id: "" };
    expect(await json("env", "show", run, id)).toMatchObject({ id, environment: { program: { language: "python" } }, gates: expect.arrayContaining([expect.objectContaining({ gate: "parse", passed: true })]) as unknown });
  });

  test("its checkpoints are evaluated", async () => {
    const scores = (await json("evaluate", run, "--suite", "test/suite", "--seeds", "1")) as readonly { readonly subject: string; readonly evaluation: { readonly suite: string } }[];
    expect(scores.map(({ subject, evaluation }) => [subject, evaluation.suite])).toEqual(readdirSync(join(run, "checkpoints")).map((name) => [`iteration ${Number(name)}`, "tiny"]));
  });
});

test("a designer that writes only rubbish: zero admitted, recorded, and the run goes on", async () => {
  const rubbish = path("rubbish");
  const finished = await spade("train", writeConfig(path("rubbish.json"), { run: { iterations: 2 }, design: { sampling: { maxTokens: 5 } } }), "--out", rubbish, "--json");
  expect(finished.code, finished.stderr).toBe(0);
  expect(eventsOf(finished).filter((event) => event.kind === "iteration").map(({ metrics }) => metrics.admitted)).toEqual([0, 0]);
  const store = RunStore.openReadOnly(rubbish);
  expect([...store.rows("events")].map(({ iteration, kind, data }) => ({ iteration, kind, data }))).toEqual([1, 2].map((iteration) => ({ iteration, kind: "nothing-admitted", data: { candidates: expect.any(Number) as number } })));
  store.close();
  const shown = await spade("runs", "show", rubbish);
  expect(shown.code, shown.stderr).toBe(0);
});
