import { readFileSync, rmSync, mkdtempSync, writeFileSync, chmodSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sha256 } from "../core/digest.ts";
import { ensureImage } from "./image.ts";
import { openSandbox, type ObservedSandbox } from "./pool.ts";
import { createOne, openProgram, openTestSandbox, valueOf } from "./test-sandbox.ts";
import { dialects } from "./testing/dialects.ts";

const { shaped } = dialects[0]!;
let sandbox: ObservedSandbox;

beforeAll(async () => {
  sandbox = await openTestSandbox({}, 2);
});
afterAll(() => sandbox.close());

describe("what only Python has", () => {
  const numpy = "class S:\n    def __init__(self, v): self.v = v\n    def item(self): return self.v\n";

  test("T9: numpy-like scalars and any info are accepted", async () => {
    const handle = await openProgram(sandbox, numpy + shaped({ reset: "return 'ready', {}", step: "return 'ok', S(1), S(True), S(False), {'a': S(.5), 'b': [0, 1], 'c': {1, 2}}" }));
    const { instance } = await createOne(handle, 0);
    expect(valueOf((await handle.step([{ instance, action: "" }]))[0])).toEqual({ observation: "ok", reward: 1, terminated: true, truncated: false, warnings: [] });
    await handle.close();
  });

  test("hash order of text is fixed and ids of objects do not matter across children", async () => {
    const source = shaped({ reset: "return ' '.join({str(i) for i in range(50)})" });
    const lanes = await Promise.all([0, 1].map((lane) => openProgram(sandbox, source, lane)));
    const seen = await Promise.all(lanes.map((handle) => createOne(handle, 1)));
    expect(seen[0]!.observation).toBe(seen[1]!.observation);
    await Promise.all(lanes.map((handle) => handle.close()));
  });

  test("unseeded randomness differs from one reset to the next, and is the same in every instance", async () => {
    const handle = await openProgram(sandbox, shaped({ reset: "import random, time, os\n        return f'{random.random()} {time.time()} {os.urandom(4)}'" }));
    const [a, b] = await handle.create([1, 1]);
    expect(valueOf(a).observation).toBe(valueOf(b).observation);
    const again = valueOf((await handle.reset([{ instance: valueOf(a).instance, seed: 1 }]))[0]);
    const [x, y] = [valueOf(a).observation.split(" "), again.observation.split(" ")];
    for (const i of [0, 1, 2]) expect(y[i]).not.toBe(x[i]);
    await handle.close();
  });
});

describe("image", () => {
  test("is verified, rebuilt when damaged, and its build is deterministic", async () => {
    const directory = mkdtempSync(join(tmpdir(), "spade-image-"));
    const first = await ensureImage(directory);
    expect(sha256(readFileSync(first.path))).toBe(first.sha256);
    const bytes = readFileSync(first.path);
    bytes[1000] = (bytes[1000] ?? 0) ^ 1;
    writeFileSync(first.path, bytes);
    const second = await ensureImage(directory);
    expect(second).toEqual(first);
    expect(sha256(readFileSync(second.path))).toBe(first.sha256);
    rmSync(directory, { recursive: true });
  }, 120_000);

  test("a directory that cannot be written is named", async () => {
    const directory = mkdtempSync(join(tmpdir(), "spade-image-"));
    const file = join(directory, "file");
    writeFileSync(file, "");
    chmodSync(file, 0o444);
    await expect(openSandbox({ lanes: 1, cacheDirectory: join(file, "cache") })).rejects.toMatchObject({ code: "sandbox.image", message: expect.stringContaining(file) as string });
    rmSync(directory, { recursive: true });
  });
});
