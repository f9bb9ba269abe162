import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openJournal } from "./bench-journal.ts";

const root = mkdtempSync(join(tmpdir(), "spade-journal-"));
afterAll(() => rmSync(root, { recursive: true }));

test("a journal keeps verdicts, drops a line that was cut off, and is refused with other options or code", () => {
  mkdirSync(join(root, "src/gates"), { recursive: true });
  writeFileSync(join(root, "src/gates/a.ts"), "1");
  const file = join(root, "journal.jsonl");
  const first = openJournal(file, root, { seed: 1 });
  expect(first.get("a")).toBeUndefined();
  first.put("a", { verdict: { verdict: "admitted" } });
  first.put("b", {});
  appendFileSync(file, '["c", {"ver');
  const second = openJournal(file, root, { seed: 1 });
  expect([second.get("a"), second.get("b"), second.get("c")]).toEqual([{ verdict: { verdict: "admitted" } }, {}, undefined]);
  second.put("c", {});
  expect(readFileSync(file, "utf8").split("\n").slice(1)).toEqual(['["a",{"verdict":{"verdict":"admitted"}}]', '["b",{}]', '["c",{}]', ""]);
  expect(() => openJournal(file, root, { seed: 2 })).toThrow(/no journal of a bench/);
  writeFileSync(join(root, "src/gates/a.ts"), "2");
  expect(() => openJournal(file, root, { seed: 1 })).toThrow(/no journal of a bench/);
});
