import { writeFileSync } from "node:fs";
import { afterAll, expect, test, vi } from "vitest";
import { killAt, spade, workDirectory, writeConfig } from "./command.ts";

vi.setConfig({ testTimeout: 180_000 });

const { path, remove } = workDirectory();
afterAll(remove);

const lines = (count: number): string => Array.from({ length: count }, (_, i) => `{"text":"The ferry number ${i} crosses the river."}\n`).join("");

test("counts a corpus and shows the first draws of a run", async () => {
  writeFileSync(path("a.jsonl"), `${lines(20)}${lines(2)}{"text":"short"}\n`);
  const config = writeConfig(path("config.json"), { corpus: { paths: [path("a.jsonl")], keep: { minWords: 2 } } });
  const { code, stdout, stderr } = await spade("corpus", config, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  const printed = JSON.parse(stdout) as { readonly shown: readonly unknown[] };
  expect(printed).toMatchObject({ documents: 20, counts: { rows: 23, documents: 20, duplicates: 2, outsideLimits: 1 }, lengths: { words: [7, 7, 7] } });
  expect(printed.shown).toHaveLength(3);
  const plain = await spade("corpus", path("a.jsonl"), "--show", "1");
  expect(plain.stdout).toMatch(/^21 documents of 23 rows read; 2 duplicates, 0 outside/);
  expect(plain.stdout).toContain(`digest `);
});

test("a path that is not there is an error with a remedy", async () => {
  const { code, stderr } = await spade("corpus", path("none.jsonl"));
  expect(code).toBe(1);
  expect(stderr).toContain("corpus.file");
  expect(stderr).toContain("corpus.paths");
});

test("a run goes on with the corpus it began with only", async () => {
  const corpus = path("run.jsonl");
  writeFileSync(corpus, lines(30));
  const run = path("run");
  const config = writeConfig(path("run.json"), { corpus: { paths: [corpus] }, run: { iterations: 0 } });
  await killAt([config, "--out", run], (event) => event.kind === "start");
  writeFileSync(corpus, lines(31));
  const refused = await spade("train", "--resume", run);
  expect(refused.code).toBe(1);
  expect(refused.stderr).toMatch(/^corpus\.changed: The run began with a corpus of 30 documents .* hold 31 documents .*start a new run/);
  writeFileSync(corpus, lines(30));
  expect(await spade("train", "--resume", run)).toMatchObject({ code: 0, stderr: "" });
});
