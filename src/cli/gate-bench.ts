import { join } from "node:path";
import { SpadeError } from "../core/errors.ts";
import { extractProgram } from "../designer/extract.ts";
import { defaultGates } from "../gates/config.ts";
import { readBank } from "../gates/mutants/bank.ts";
import { benchGates, type BenchResult, benchTargets, type OperatorResult } from "../gates/mutants/bench.ts";
import { mutationOperators, operatorsOf } from "../gates/mutants/operators.ts";
import type { Share } from "../gates/mutants/wilson.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Arguments, OptionSpec } from "./arguments.ts";
import { table } from "./format.ts";

/** Options that only `spade gate bench` reads. */
export const benchOptions: readonly OptionSpec[] = [
  { name: "operators", value: "A,B", help: "bench: only these mutation operators (default: all)" },
  { name: "programs", value: "N", help: "bench: mutants scored per operator, each of another program (default 20)" },
  { name: "lanes", value: "N", help: "bench: sandbox children (default 2)" },
];

const defaultPrograms = 20;

/** `spade gate bench`: false accepts on planted faults and false rejects on good programs. Returns 1 when a target is missed. */
export async function benchCommand(args: Arguments): Promise<number> {
  const operators = args.text("operators");
  const chosen = operators === undefined ? mutationOperators : operatorsOf(operators.split(",").map((id) => id.trim()));
  const programsPerOperator = atLeastOne(args, "programs", defaultPrograms);
  const lanes = atLeastOne(args, "lanes", 2);
  const seed = args.integer("seed") ?? 0;
  const bank = readBank(join(import.meta.dirname, "../../environments"));
  await using stack = new AsyncDisposableStack();
  const sandbox = await openSandbox({ lanes });
  stack.defer(() => sandbox.close());
  let done = 0;
  const onDone = ({ operator, falseAccept }: OperatorResult): void => console.error(`${++done}/${chosen.length} ${operator.id}: ${falseAccept.count} of ${falseAccept.n} admitted`);
  const result = await benchGates({ sandbox, config: defaultGates, seed, bank, operators: chosen, programsPerOperator, extract: extractProgram, onDone });
  console.log(args.flag("json") ? JSON.stringify({ seed, programsPerOperator, targets: benchTargets, ...result }, null, 2) : benchText(result));
  return result.missed.length === 0 ? 0 : 1;
}

function atLeastOne(args: Arguments, name: string, fallback: number): number {
  const value = args.integer(name) ?? fallback;
  if (value < 1) throw new SpadeError("usage.number", `--${name} must be at least 1, not ${value}. See: spade gate --help`);
  return value;
}

function benchText(result: BenchResult): string {
  const { executable, semantic, falseReject, rejected, programsPerSecond, missed } = result;
  const rows = (kind: "executable" | "semantic"): string[][] => result.operators.filter(({ operator }) => operator.kind === kind).map(operatorRow);
  const heading = ["operator", "admitted", "n", "rate", "95 % interval", "equal", "most caught by"];
  return [
    ...(rows("executable").length === 0 ? [] : ["Faults that execution can reveal", table([heading, ...rows("executable"), ["all", ...shareCells(executable), "", ""]]), ""]),
    ...(rows("semantic").length === 0 ? [] : ["Faults between text and code, which no execution reveals", table([heading, ...rows("semantic"), ["all", ...shareCells(semantic), "", ""]]), ""]),
    `False reject: ${shareText(falseReject)} good programs.`,
    ...rejected.map(({ name, gate, code }) => `  ${name}: ${gate} (${code})`),
    ...result.operators.filter(({ operator, admitted }) => operator.kind === "executable" && admitted.length > 0).map(({ operator, admitted }) => `Admitted with ${operator.id} (${operator.fault}): ${admitted.join(", ")}`),
    `${programsPerSecond.toFixed(2)} programs per second.`,
    missed.length === 0 ? "All targets are kept." : `Missed: ${missed.join("; ")}.`,
  ].join("\n");
}

function operatorRow({ operator, falseAccept, equivalent, caughtBy }: OperatorResult): string[] {
  const most = Object.entries(caughtBy).sort((a, b) => b[1] - a[1])[0];
  return [operator.id, ...shareCells(falseAccept), String(equivalent), most === undefined ? "–" : `${most[0]} ${most[1]}`];
}

function shareCells({ count, n, rate, low, high }: Share): string[] {
  return [String(count), String(n), percentage(rate), rate === undefined ? "–" : `[${percentage(low)}, ${percentage(high)}]`];
}

function shareText(share: Share): string {
  const { count, n, rate, low, high } = share;
  return `${count} of ${n} (${percentage(rate)}, 95 % interval ${percentage(low)} to ${percentage(high)})`;
}

function percentage(share: number | undefined): string {
  return share === undefined ? "–" : `${(share * 100).toFixed(1)} %`;
}
