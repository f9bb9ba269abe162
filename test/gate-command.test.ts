import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { fence } from "../src/designer/prompts.ts";
import { foreignPrograms, necessaryPrograms } from "../src/gates/testing/later-programs.ts";
import { badPrograms, bakeryDocument, goodPrograms } from "../src/gates/testing/programs.ts";
import { packageRoot, spade, workDirectory } from "./command.ts";

vi.setConfig({ testTimeout: 60_000 });
const { path, remove } = workDirectory();
afterAll(remove);

const write = (name: string, text: string): string => {
  writeFileSync(path(name), text);
  return path(name);
};
const good = goodPrograms["addition"] ?? "";

/** What `spade gate --json` prints, as far as it is looked at here. */
interface Printed {
  readonly profile: string;
  readonly files: readonly { readonly file: string; readonly verdict: string; readonly rejected?: { readonly id: string; readonly code: string; readonly evidence: object; readonly remedy: string }; readonly gates: readonly { readonly id: string; readonly verdict: string }[] }[];
  readonly funnel: readonly { readonly gate: string; readonly rejected: number; readonly left: number }[];
}

describe("one file", () => {
  test("admitted: exit code 0; without a document the output says that grounded is off", async () => {
    const { code, stdout, stderr } = await spade("gate", write("good.py", good));
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout).toContain("good.py: admitted");
    expect(stdout).toContain("Gate grounded is off: no --document was given.");
  });

  test("rejected: exit code 1, and gate, seed, action, expected, got and remedy", async () => {
    const { code, stdout, stderr } = await spade("gate", write("bad.py", necessaryPrograms.redundant));
    expect(stderr).toBe("");
    expect(code).toBe(1);
    expect(stdout).toMatch(/bad\.py: rejected by gate necessary \(redundant\)\n {2}why .+\n {2}seed {6}0\n {2}action {4}"\d+"\n {2}expected {2}a loss.+\n {2}got {7}reward 1.+\n {2}remedy .+/);
    expect(stdout).toContain("not run: not-trivial, leak, novelty, audit");
  });

  test("a reply, with a document and the foreign profile, as JSON", async () => {
    const reply = write("reply.md", `Here it is.\n${fence(foreignPrograms.freeText)}\n`);
    const { code, stdout } = await spade("gate", reply, "--json", "--profile", "foreign", "--document", write("document.txt", bakeryDocument));
    expect(code).toBe(0);
    const printed = JSON.parse(stdout) as Printed;
    expect(printed).toMatchObject({ profile: "foreign", files: [{ file: reply, verdict: "admitted" }] });
    const verdicts = new Map(printed.files[0]?.gates.map(({ id, verdict }) => [id, verdict]));
    expect([verdicts.get("grounded"), verdicts.get("solvable"), verdicts.get("necessary")]).toEqual(["pass", "not-applicable", "not-applicable"]);
  });
});

test("a folder: a line per file, a funnel, exit code 1; what a program says cannot steer the terminal", async () => {
  const folder = path("pool");
  mkdirSync(`${folder}/more`, { recursive: true });
  writeFileSync(`${folder}/a.py`, good);
  writeFileSync(`${folder}/b.md`, "I cannot.");
  writeFileSync(`${folder}/more/c.py`, badPrograms["has a wrong solution"]?.source ?? "");
  writeFileSync(`${folder}/more/d.py`, 'raise ValueError("\\x1b[2J")');
  writeFileSync(`${folder}/readme.txt`, "not a program");
  const plain = await spade("gate", folder);
  expect(plain.code).toBe(1);
  expect(plain.stdout.split("\n").slice(0, 4).map((line) => line.replace(`${folder}/`, "").split(":")[0])).toEqual(["admitted  a.py", "rejected  b.md  extract (no-block)", "rejected  more/c.py  solvable (loses)", "rejected  more/d.py  load (raise)"]);
  expect(plain.stdout).toContain("1 of 4 admitted.");
  expect(plain.stdout).not.toContain("\u001b");
  const { funnel } = JSON.parse((await spade("gate", folder, "--json")).stdout) as Printed;
  const row = (gate: string): object | undefined => funnel.find((item) => item.gate === gate);
  expect([row("extract"), row("parse"), row("load"), row("solvable"), row("audit")]).toEqual([
    { gate: "extract", rejected: 1, left: 3 },
    { gate: "parse", rejected: 0, left: 3 },
    { gate: "load", rejected: 1, left: 2 },
    { gate: "solvable", rejected: 1, left: 1 },
    { gate: "audit", rejected: 0, left: 1 },
  ]);
});

test("TypeScript programs, in files and replies, beside Python ones; remedies speak of the program's language", async () => {
  const folder = path("mixed");
  mkdirSync(folder);
  const coins = readFileSync(join(packageRoot, "environments/good/coin_change.ts"), "utf8");
  writeFileSync(`${folder}/a.py`, good);
  writeFileSync(`${folder}/b.ts`, coins);
  writeFileSync(`${folder}/c.md`, `Here it is.\n\`\`\`typescript\n${coins}\`\`\`\n`);
  writeFileSync(`${folder}/d.ts`, "export const nothing = 1;");
  const { code, stdout } = await spade("gate", folder, "--json");
  expect(code).toBe(1);
  const printed = JSON.parse(stdout) as Printed;
  expect(printed.files.map(({ verdict }) => verdict)).toEqual(["admitted", "admitted", "admitted", "rejected"]);
  expect(printed.files[3]?.rejected).toMatchObject({ id: "load", code: "protocol", remedy: expect.stringContaining("export default class") as string });
}, 240_000);

test.each([
  ["nothing to judge", [], "usage.missing"],
  ["a file that is not there", ["no/such.py"], "usage.file"],
  ["a file of another kind", [write("notes.txt", "x")], "usage.file"],
  ["a document that is not there", [write("other.py", good), "--document", "no/such.txt"], "usage.file"],
  ["an unknown profile", [write("third.py", good), "--profile", "kind"], "usage.profile"],
])("%s: exit code 2", async (_name, words, code) => {
  const finished = await spade("gate", ...words);
  expect(finished.stderr).toMatch(new RegExp(`^${code}: `));
  expect(finished.code).toBe(2);
});
