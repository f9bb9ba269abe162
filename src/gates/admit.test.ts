import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { canonicalJson } from "../core/digest.ts";
import type { Extraction } from "../core/environment.ts";
import { SpadeError } from "../core/errors.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { admit, admitAll, type Admission, type Candidate } from "./admit.ts";
import { defaultGates, gateIds, type GatesConfig } from "./config.ts";
import { rejectingGate } from "./record.ts";
import { addition, badPrograms, bakeryDocument, goodPrograms, oneTurn } from "./testing/programs.ts";

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ lanes: 2, limits: { wallMsPerCall: 2000, fuelPerCall: 20_000 } });
}, 120_000);
afterAll(() => sandbox.close());

function candidate(source: string, more: Partial<Candidate> = {}): Candidate {
  const extraction: Extraction = { ok: true, program: { language: "python", source }, repairs: [] };
  return { id: "0.0.0", text: source, extraction, document: bakeryDocument, ...more };
}

function judge(source: string, config: GatesConfig = defaultGates): Promise<Admission> {
  return admit(candidate(source), { sandbox, config, seed: 1 });
}

function verdictOf(admission: Admission): string {
  const gate = rejectingGate(admission.record);
  return gate === undefined ? "admitted" : `${gate.id}: ${gate.code}`;
}

describe("good programs", () => {
  it.each(Object.entries(goodPrograms))("%s is admitted", async (_name, source) => {
    const admission = await judge(source);
    expect(rejectingGate(admission.record)).toBeUndefined();
    expect(admission.record.gates.map(({ id, verdict }) => [id, verdict])).toEqual(gateIds.map((id) => [id, id === "audit" ? "off" : id === "tool-use" ? "not-applicable" : "pass"]));
    expect(admission.solutions.length).toBe(defaultGates.probeSeeds);
    expect(admission.trivialWinRate).toBeLessThan(0.5);
  });
});

describe("bad programs", () => {
  it.each(Object.entries(badPrograms))("a program that %s is rejected", async (_name, { source, gate, codes }) => {
    const admission = await judge(source);
    const rejected = rejectingGate(admission.record);
    expect(rejected?.id, rejected?.message).toBe(gate);
    expect(codes).toContain(rejected?.code);
    expect(admission.record.gates.map(({ id }) => id)).toEqual(gateIds);
    const position = gateIds.findIndex((id) => id === gate);
    expect(admission.record.gates.slice(position + 1).every(({ verdict }) => verdict === "not-run")).toBe(true);
  });

  it("T10: names the seed on which the goal holds at reset", async () => {
    const rejected = rejectingGate((await judge(badPrograms["is won at reset on seed 3"]!.source)).record);
    expect(rejected?.message).toContain("pre-satisfied on 1/8 seeds: 3");
    expect(rejected?.evidence).toMatchObject({ seeds: [3], seed: 3, actions: ["done"], got: "reward 1, terminated after 1 action" });
  });
});

/** ../../../shared/reference/reference-behaviour.md: what the reference validator gets wrong. */
describe("the reference's table", () => {
  const step = (text: string): string => oneTurn({ reset: addition, step: text });
  const rejected: [string, string][] = [
    ["reward NaN", step("return 'no', float('nan'), True, False, {}")],
    ["always returns 1.0", step("return 'yes', 1.0, True, False, {}")],
    ["pays for an empty action", badPrograms["pays for an empty action"]!.source],
    ["constant answer", badPrograms["has the answer 7 on every seed"]!.source],
    ["prints the answer", badPrograms["prints a number that is the answer"]!.source],
    ["ignores the seed", badPrograms["ignores the seed"]!.source],
    ["mutable class attribute", badPrograms["shares state between instances"]!.source],
    ["opens a file", badPrograms["reads a file in step"]!.source],
    ["sys.exit in step", badPrograms["leaves in step"]!.source],
    ["while True in step", badPrograms["loops in step"]!.source],
  ];
  it.each(rejected)("%s: rejected", async (_row, source) => {
    expect((await judge(source)).record.verdict).toBe("rejected");
  });

  it("infinite reward on one action only: a named failure of that step", async () => {
    const opened = await sandbox.open({ language: "python", source: step("return 'no', (float('inf') if action == 'go' else 0.0), False, False, {}") });
    if (!opened.ok) throw new Error(opened.failure.message);
    const [created] = await opened.value.create([1]);
    const instance = created?.ok === true ? created.value.instance : -1;
    const results = [...(await opened.value.step([{ instance, action: "stay" }])), ...(await opened.value.step([{ instance, action: "go" }]))];
    expect(results.map((result) => (result.ok ? "ok" : result.failure.code))).toEqual(["ok", "protocol"]);
    await opened.value.close();
  });

  it("a replaced random.random: harmless to every other program", async () => {
    const before = await judge(goodPrograms["addition"]!);
    await judge(oneTurn({ reset: `random.random = lambda: 0.5\nrandom.Random.randint = lambda self, a, b: a\n${addition}` }));
    expect(canonicalJson((await judge(goodPrograms["addition"]!)).record)).toBe(canonicalJson(before.record));
  });

  it("a helper class before the real one: the leaf class is the entry", async () => {
    const helper = "class GridEnv:\n    def reset(self, seed=None):\n        return 'grid', {}\n    def step(self, action):\n        return 'grid', 0.0, True, False, {}\n";
    const admission = await judge(oneTurn({ before: helper, reset: `self.grid = GridEnv()\n${addition}` }));
    expect(admission.facts?.entry).toBe("Bakery");
    expect(verdictOf(admission)).toBe("admitted");
  });

  it("numpy-like scalars are coerced", async () => {
    const scalar = "class Scalar:\n    def __init__(self, value):\n        self.value = value\n    def item(self):\n        return self.value\n";
    const body = "won = action.strip() == str(self.key)\nreturn 'Ok.', Scalar(1 if won else 0), Scalar(True), Scalar(False), {}";
    expect(verdictOf(await judge(oneTurn({ before: scalar, reset: addition, step: body })))).toBe("admitted");
  });

  it("True as a reward becomes 1 with a warning", async () => {
    const admission = await judge(step("return 'Ok.', action.strip() == str(self.key), True, False, {}"));
    expect(verdictOf(admission)).toBe("admitted");
    expect(JSON.stringify(admission.record.gates.find(({ id }) => id === "shape")?.evidence)).toContain("taken as 0");
  });

  it("a class of any name is accepted", async () => {
    expect(verdictOf(await judge(oneTurn({ reset: addition }).replaceAll("Bakery", "PuzzleGame")))).toBe("admitted");
  });
});

describe("the record", () => {
  it("is equal for equal candidates, on any number of lanes", async () => {
    const candidates = [goodPrograms["addition"]!, goodPrograms["hidden tray"]!, badPrograms["ignores the seed"]!.source].map((source, i) => candidate(source, { id: `0.${i}` }));
    const one = await openSandbox({ lanes: 1, limits: { wallMsPerCall: 2000, fuelPerCall: 20_000 } });
    try {
      const [a, b] = [await admitAll(candidates, { sandbox, config: defaultGates, seed: 7 }), await admitAll(candidates, { sandbox: one, config: defaultGates, seed: 7 })];
      const text = (admissions: readonly Admission[]): string => canonicalJson(admissions).replaceAll(/"otherLane":(true|false)/g, "");
      expect(text(b)).toBe(text(a));
      expect(canonicalJson(await admitAll(candidates, { sandbox, config: defaultGates, seed: 7 }))).toBe(canonicalJson(a));
    } finally {
      await one.close();
    }
  });

  it("lists what extraction found, and the repair that was taken", async () => {
    const nothing = await admit(candidate("", { extraction: { ok: false, code: "no-block", message: "no code" } }), { sandbox, config: defaultGates, seed: 1 });
    expect(verdictOf(nothing)).toBe("extract: no-block");
    expect(nothing.program).toBeUndefined();
    const program = { language: "python", source: goodPrograms["addition"]! } as const;
    const slip: Extraction = { ok: true, program: { language: "python", source: "x = f'{}'" }, repairs: [{ name: "fstring-braces", program }] };
    const repaired = await admit(candidate("", { extraction: slip }), { sandbox, config: defaultGates, seed: 1 });
    expect(verdictOf(repaired)).toBe("admitted");
    expect(repaired.program).toEqual(program);
    expect(repaired.record.gates[1]?.evidence).toEqual({ repair: "fstring-braces" });
  });

  it("says which gates were switched off", async () => {
    const config: GatesConfig = { ...defaultGates, grounded: { ...defaultGates.grounded, enabled: false } };
    const admission = await judge(badPrograms["is about something else"]!.source, config);
    expect(admission.record.gates.find(({ id }) => id === "grounded")?.verdict).toBe("off");
    expect(verdictOf(admission)).toBe("admitted");
  });

  it("fails closed: a sandbox fault or a gate out of time rejects", async () => {
    const dead: Sandbox = { ...sandbox, lanes: 1, limits: sandbox.limits, open: () => Promise.reject(new SpadeError("sandbox.child", "no child")), close: () => Promise.resolve() };
    expect(verdictOf(await admit(candidate(goodPrograms["addition"]!), { sandbox: dead, config: defaultGates, seed: 1 }))).toBe("load: sandbox.child");
    let now = 0;
    const slow = await admit(candidate(goodPrograms["addition"]!), { sandbox, config: defaultGates, seed: 1, clock: () => (now += 20_000) });
    expect(verdictOf(slow)).toBe("shape: timeout");
  });
});
