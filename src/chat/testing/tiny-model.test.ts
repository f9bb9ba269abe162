import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { expect, test } from "vitest";

const vitest = join(import.meta.dirname, "../../../node_modules/.bin/vitest");

test("a test file that writes tiny models leaves none behind", () => {
  const root = mkdtempSync(join(tmpdir(), "spade-left-"));
  const { status, stdout } = spawnSync("env", [`TMPDIR=${root}`, process.execPath, vitest, "run", "src/chat/render-check.test.ts"], { encoding: "utf8" });
  const left = readdirSync(root).filter((name) => name.startsWith("spade-"));
  rmSync(root, { recursive: true });
  expect(status, stdout).toBe(0);
  expect(left).toEqual([]);
}, 120_000);
