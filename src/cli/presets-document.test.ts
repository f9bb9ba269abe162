import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { presets } from "../config/presets.ts";
import { presetsDocument, summaryOf } from "./presets-document.ts";

test("docs/presets.md is what the presets say; write it anew with: npx spade presets --markdown > docs/presets.md", () => {
  expect(readFileSync(new URL("../../docs/presets.md", import.meta.url), "utf8")).toBe(presetsDocument());
});

test("every preset has a summary", () => {
  for (const name of Object.keys(presets)) expect(summaryOf(name), name).toMatch(/\w{3}/);
});
