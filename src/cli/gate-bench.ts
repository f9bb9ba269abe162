import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SpadeError } from "../core/errors.ts";
import { extractProgram } from "../designer/extract.ts";
import { defaultGates } from "../gates/config.ts";
import { readBank } from "../gates/mutants/bank.ts";
import { benchGates, benchTargets, type OperatorResult } from "../gates/mutants/bench.ts";
import { mutationOperators, operatorsOf } from "../gates/mutants/operators.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Arguments, OptionSpec } from "./arguments.ts";
import { openJournal } from "./bench-journal.ts";
import { benchMarkdown, benchText } from "./bench-table.ts";
import { gitProvenance } from "./provenance.ts";

/** Options that only `spade gate bench` reads. */
export const benchOptions: readonly OptionSpec[] = [
  { name: "operators", value: "A,B", help: "bench: only these mutation operators (default: all)" },
  { name: "programs", value: "N", help: "bench: mutants scored per operator and language, each of another program (default 20)" },
  { name: "lanes", value: "N", help: "bench: sandbox children (default 2)" },
  { name: "resume", value: "FILE", help: "bench: keep verdicts in this file, and go on with those that it has" },
  { name: "write", help: "bench: put the table into docs/gates.md of this checkout; needs all operators" },
];

const defaultPrograms = 20;

/**
 * Fuel decides, not the clock, so that a busy machine gives the same verdicts; the budget is that of the nano presets, a
 * tenth of the sandbox's default, so that a hang costs little.
 */
const benchLimits = { fuelPerCall: 50_000, wallMsPerCall: 60_000, wallMsPerEpisode: 600_000 };
const benchGatesConfig = { ...defaultGates, wallMsPerGate: 600_000 };

const root = join(import.meta.dirname, "../..");
/** The lines of `docs/gates.md` between which the table stands. */
const marks = ["<!-- gate bench: begin; written by `spade gate bench --write` -->", "<!-- gate bench: end -->"] as const;

/** `spade gate bench`: false accepts on planted faults and false rejects on good programs. Returns 1 when a target is missed. */
export async function benchCommand(args: Arguments): Promise<number> {
  const operators = args.text("operators");
  const chosen = operators === undefined ? mutationOperators : operatorsOf(operators.split(",").map((id) => id.trim()));
  const programsPerOperator = args.atLeastOne("programs", defaultPrograms);
  const lanes = args.atLeastOne("lanes", 2);
  const seed = args.integer("seed") ?? 0;
  const write = args.flag("write");
  if (write && operators !== undefined) throw new SpadeError("usage.write", "--write puts a whole table into docs/gates.md; leave --operators out.");
  if (write) aroundTable();
  const file = args.text("resume");
  const journal = file === undefined ? {} : { journal: openJournal(file, root, { seed, limits: benchLimits, config: benchGatesConfig }) };
  const bank = readBank(join(root, "environments"));
  await using stack = new AsyncDisposableStack();
  const sandbox = await openSandbox({ lanes, limits: benchLimits });
  stack.defer(() => sandbox.close());
  let done = 0;
  const onDone = ({ operator, falseAccept }: OperatorResult): void => console.error(`${++done}/${chosen.length} ${operator.id}: ${falseAccept.count} of ${falseAccept.n} admitted`);
  const result = await benchGates({ sandbox, config: benchGatesConfig, seed, bank, operators: chosen, programsPerOperator, extract: extractProgram, onDone, ...journal });
  console.log(args.flag("json") ? JSON.stringify({ seed, programsPerOperator, limits: benchLimits, targets: benchTargets, ...result }, null, 2) : benchText(result));
  if (write) writeTable(benchMarkdown(result, provenance(programsPerOperator, seed)));
  return result.missed.length === 0 ? 0 : 1;
}

const gatesPage = join(root, "docs/gates.md");

/** What stands before and after the table in `docs/gates.md`. @throws usage.write when there is no place for it */
function aroundTable(): readonly [string, string] {
  const text = existsSync(gatesPage) ? readFileSync(gatesPage, "utf8") : "";
  const [begin, end] = [text.indexOf(marks[0]), text.indexOf(marks[1])];
  if (begin < 0 || end < begin) throw new SpadeError("usage.write", `--write found no place for the table in ${gatesPage}. Expected the lines "${marks[0]}" and "${marks[1]}".`);
  return [text.slice(0, begin), text.slice(end)];
}

function writeTable(table: string): void {
  const [before, after] = aroundTable();
  writeFileSync(gatesPage, `${before}${marks[0]}\n\n${table}\n\n${after}`);
}

function provenance(programs: number, seed: number): string {
  const { node, cores, commit } = gitProvenance();
  const at = typeof commit === "string" ? `, commit ${commit.slice(0, 8)}` : "";
  return `Measured on ${new Date().toISOString().slice(0, 10)} with \`npx spade gate bench --programs ${programs} --seed ${seed} --write\` (Node ${String(node)}, ${String(cores)} cores${at}).`;
}
