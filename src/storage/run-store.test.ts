import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { Episode } from "../core/episode.ts";
import { SpadeError } from "../core/errors.ts";
import { Rng } from "../core/seed.ts";
import { readEpisodes } from "./episodes.ts";
import { RunStore } from "./run-store.ts";
import { tables } from "./tables.ts";

const root = mkdtempSync(join(tmpdir(), "spade-storage-"));
afterAll(() => rmSync(root, { recursive: true }));

const header = { name: "test", programVersion: "0.1.0", config: { a: 1 }, configDigest: "digest", provenance: { started: "now" } };
let runs = 0;
const fresh = () => join(root, `run-${runs++}`);

function episode(id: string, seed: number): Episode {
  return {
    id,
    environmentId: "env",
    arm: "plain",
    seed,
    play: 0,
    outcome: { kind: "terminated", reward: 0.1 + seed },
    turns: [{ observation: 'a\u0000b "ü" \ud83c\udf0a', response: "\\boxed{1}", action: "1", reward: 0 }],
    trajectory: {
      role: "agent",
      arm: "plain",
      segments: [
        { kind: "prompt", tokens: Int32Array.of(1, 2, 3) },
        { kind: "sampled", tokens: Int32Array.of(2_000_000_000, 7), logprobs: Float32Array.of(-0.1, -12.5), policyVersion: 4 },
      ],
    },
  };
}

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof SpadeError) return error.code;
    throw error;
  }
  return "none";
}

/** Writes and commits one iteration whose rows depend on its number only. */
function writeIteration(store: RunStore, iteration: number, order = [0, 1, 2]): void {
  const writer = store.beginIteration(iteration);
  writer.addEpisodes(order.map((i) => ({ ...episode(`${iteration}.${i}`, i), timing: { totalMs: performance.now() } })));
  writer.add("rewards", ...order.map((i) => ({ role: "agent" as const, subjectId: `${iteration}.${i}`, reward: i / 7, components: { outcome: i / 7 } })));
  writer.addEvent("iteration", { iteration });
  writer.add("curriculumStates", { state: { iteration } });
  writer.commit({ policyVersion: iteration, timing: { totalMs: performance.now() } });
}

describe("the record", () => {
  test("gives back exactly what was sampled (invariant 1)", () => {
    const store = RunStore.create(fresh(), header);
    const writer = store.beginIteration(0);
    writer.addEpisodes([episode("0.0", 9), episode("0.1", 4_294_967_295)]);
    writer.commit({ policyVersion: 1 });
    expect(readEpisodes(store, 0)).toEqual([episode("0.0", 9), episode("0.1", 4_294_967_295)]);
    expect(store.iterations()).toEqual([{ iteration: 0, policyVersion: 1 }]);
    store.close();
  });

  test("token and log-probability blobs round-trip bit by bit", () => {
    const store = RunStore.create(fresh(), header);
    const writer = store.beginIteration(0);
    const cases = fc.sample(fc.tuple(fc.int32Array(), fc.float32Array({ noNaN: true })), 50);
    cases.forEach(([tokens, logprobs], i) => {
      writer.add("segments", { owner: "design", ownerId: `${i}`, position: 0, role: "designer", arm: "plain", kind: "sampled", tokens, logprobs, policyVersion: 0 });
    });
    writer.commit({ policyVersion: 0 });
    const read = [...store.rows("segments")];
    cases.forEach(([tokens, logprobs], i) => expect(read[i]).toMatchObject({ tokens: Int32Array.from(tokens), logprobs: Float32Array.from(logprobs) }));
    store.close();
  });

  test("shows nothing of an iteration before its commit, to itself or to a reader beside it", () => {
    const directory = fresh();
    const store = RunStore.create(directory, header);
    writeIteration(store, 0);
    const writer = store.beginIteration(1);
    writer.addEpisodes([episode("1.0", 0)]);
    const reader = RunStore.openReadOnly(directory);
    for (const view of [store, reader]) {
      expect([...view.rows("episodes")]).toHaveLength(3);
      expect(view.lastIteration()).toBe(0);
    }
    writer.commit({ policyVersion: 2 });
    expect([...reader.rows("episodes", { iteration: 1 })]).toHaveLength(1);
    reader.close();
    store.close();
  });

  test("is append-only, even for other connections", () => {
    const directory = fresh();
    const store = RunStore.create(directory, header);
    writeIteration(store, 0);
    store.close();
    const raw = new DatabaseSync(join(directory, "run.sqlite"));
    for (const name of ["runs", "attempts", "iterations", ...Object.keys(tables)]) {
      const column = String(raw.prepare(`SELECT name FROM pragma_table_info('${name}') LIMIT 1`).get()?.["name"]);
      if (raw.prepare(`SELECT 1 FROM ${name}`).get() === undefined) continue;
      expect(() => raw.exec(`DELETE FROM ${name}`)).toThrow(/append-only/);
      expect(() => raw.exec(`UPDATE ${name} SET "${column}" = "${column}"`)).toThrow(/append-only/);
    }
    raw.close();
  });

  test("refuses numbers that it could not give back, whole rows or none", () => {
    const store = RunStore.create(fresh(), header);
    const writer = store.beginIteration(0);
    const reward = (subjectId: string, value: number) => ({ role: "agent", subjectId, reward: value, components: {} }) as const;
    expect(() => writer.add("rewards", reward("a", 1), reward("b", Number.NaN))).toThrow(/finite/);
    expect(() => writer.add("curriculumStates", { state: { rate: Infinity } })).toThrow(/finite numbers \(key "rate"/);
    expect(codeOf(() => writer.add("rewards", reward("c", 1), reward("c", 2)))).toBe("internal.invariant");
    writer.commit({ policyVersion: 0 });
    expect([...store.rows("rewards")]).toEqual([]);
    store.close();
  });

  test("takes iterations in order and no rows after a commit or from a superseded attempt", () => {
    const store = RunStore.create(fresh(), header);
    expect(() => store.beginIteration(1)).toThrow(/iteration 0 comes next/);
    const first = store.beginIteration(0);
    const second = store.beginIteration(0);
    expect(() => first.addEvent("late", {})).toThrow(/superseded/);
    second.commit({ policyVersion: 0 });
    expect(() => second.addEvent("late", {})).toThrow(/after its commit/);
    store.close();
  });
});

describe("the record digest (invariant 12)", () => {
  const uninterrupted = (iterations: number, order?: readonly number[]): string => {
    const store = RunStore.create(fresh(), header);
    for (let i = 0; i < iterations; i++) writeIteration(store, i, order === undefined ? undefined : [...order]);
    const digest = store.digest();
    store.close();
    return digest;
  };

  test("depends on neither timings nor the order of writing", () => {
    const digest = uninterrupted(2);
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        expect(uninterrupted(2, new Rng(seed).shuffle([0, 1, 2]))).toBe(digest);
      }),
      { numRuns: 5 },
    );
    expect(uninterrupted(3)).not.toBe(digest);
  });

  test("is that of an uninterrupted run after rows of a lost attempt", () => {
    const store = RunStore.create(fresh(), header);
    writeIteration(store, 0);
    store.beginIteration(1).addEpisodes([episode("lost", 1)]);
    writeIteration(store, 1);
    expect(store.digest()).toBe(uninterrupted(2));
    store.close();
  });

  test("is that of an uninterrupted run after a rewind to an older checkpoint", () => {
    const store = RunStore.create(fresh(), header);
    for (let i = 0; i < 3; i++) writeIteration(store, i);
    store.rewind(0);
    expect(store.lastIteration()).toBe(0);
    for (let i = 1; i < 3; i++) writeIteration(store, i);
    expect(store.digest()).toBe(uninterrupted(3));
    store.rewind(-1);
    expect(store.lastIteration()).toBeUndefined();
    store.close();
  });

  test("changes with any value", () => {
    const store = RunStore.create(fresh(), header);
    const writer = store.beginIteration(0);
    writer.addEpisodes([0, 1, 2].map((i) => ({ ...episode(`0.${i}`, i), environmentId: i === 2 ? "other" : "env" })));
    writer.commit({ policyVersion: 0 });
    expect(store.digest()).not.toBe(uninterrupted(1));
    store.close();
  });

  test("survives kill -9 in the middle of an attempt", async () => {
    const directory = fresh();
    const child = spawn(process.execPath, [join(import.meta.dirname, "testing", "endless-writer.ts"), directory], { stdio: ["ignore", "pipe", "inherit"] });
    await once(child.stdout, "data");
    expect(codeOf(() => RunStore.open(directory))).toBe("storage.locked");
    child.kill("SIGKILL");
    await once(child, "exit");
    const store = RunStore.open(directory);
    expect(store.iterations()).toHaveLength(1);
    expect([...store.rows("events")]).toHaveLength(1);
    store.close();
  });
});

describe("bad input", () => {
  test("a second create overwrites nothing", () => {
    const directory = fresh();
    const store = RunStore.create(directory, header);
    writeIteration(store, 0);
    expect(codeOf(() => RunStore.create(directory, header))).toBe("storage.exists");
    expect(codeOf(() => RunStore.open(directory))).toBe("storage.locked");
    store.close();
    {
      using reopened = RunStore.open(directory);
      expect(reopened.header).toEqual(header);
      expect(reopened.lastIteration()).toBe(0);
    }
    using writable = RunStore.open(directory);
    writeIteration(writable, 1);
  });

  test("a missing run", () => {
    expect(codeOf(() => RunStore.open(join(root, "nowhere")))).toBe("storage.missing");
    expect(codeOf(() => RunStore.openReadOnly(join(root, "nowhere")))).toBe("storage.missing");
    expect(readdirSync(root)).not.toContain("nowhere");
  });

  test("a place that cannot be written", () => {
    const file = join(root, "file");
    writeFileSync(file, "");
    for (const directory of [join(file, "run"), "/proc/spade-run"]) expect(codeOf(() => RunStore.create(directory, header))).toBe("storage.write");
  });

  test("a run of another schema or program version", () => {
    const directory = fresh();
    RunStore.create(directory, header).close();
    expect(codeOf(() => RunStore.open(directory, { programVersion: "9.0.0" }))).toBe("storage.version");
    const raw = new DatabaseSync(join(directory, "run.sqlite"));
    raw.exec("DROP TRIGGER runs_no_update; UPDATE runs SET schemaVersion = 99");
    raw.close();
    expect(codeOf(() => RunStore.open(directory))).toBe("storage.version");
    expect(codeOf(() => RunStore.openReadOnly(directory))).toBe("storage.version");
  });

  const damages: readonly (readonly [string, (path: string) => void])[] = [
    ["overwritten from the start", (path) => writeFileSync(path, "this is not a database, not at all, not in the least".repeat(100))],
    ["emptied", (path) => writeFileSync(path, "")],
    ["truncated", (path) => truncateSync(path, 8192)],
    ["with a page of noise", (path) => {
      const bytes = readFileSync(path);
      writeFileSync(path, bytes.fill(0xa5, 4096, 12_288));
    }],
  ];

  test.each(damages)("a database %s", (_name, damage) => {
    const directory = fresh();
    const store = RunStore.create(directory, header);
    writeIteration(store, 0);
    store.close();
    damage(join(directory, "run.sqlite"));
    expect(codeOf(() => RunStore.open(directory))).toBe("storage.corrupt");
    expect(codeOf(() => RunStore.openReadOnly(directory))).toBe("storage.corrupt");
  });

  test("a full disk: the error names the file, and what was committed stays", () => {
    const directory = fresh();
    const script = join(import.meta.dirname, "testing", "fill-disk.ts");
    const output = execFileSync("bash", ["-c", `trap '' XFSZ; ulimit -f 512; exec "$0" "$1" "$2"`, process.execPath, script, directory], { encoding: "utf8" });
    expect(output).toContain("storage.write");
    expect(output).toContain("run.sqlite");
    const store = RunStore.open(directory);
    expect(store.iterations()).toHaveLength(1);
    writeIteration(store, 1);
    store.close();
  });
});
