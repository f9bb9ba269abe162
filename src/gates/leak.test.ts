import { afterAll, beforeAll, expect, it } from "vitest";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { judge, verdictOf } from "./testing/judge.ts";
import { rowPrograms } from "./testing/later-programs.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ lanes: 1 });
}, 120_000);
afterAll(() => sandbox.close());

it("gate leak finds answers of neither words nor numbers", async () => {
  expect(verdictOf(await judge(rowPrograms.told, { sandbox }))).toMatch(/^leak: /);
  expect(verdictOf(await judge(rowPrograms.sound, { sandbox }))).toBe("admitted");
}, 120_000);
