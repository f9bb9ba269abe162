import { SpadeError } from "../../core/errors.ts";
import { resourceFaults, stateFaults, valueFaults } from "./behaviour-faults.ts";
import { checkFaults } from "./check-faults.ts";
import type { MutationOperator } from "./operator.ts";
import { oracleFaults } from "./oracle-faults.ts";
import { semanticFaults, sourceFaults } from "./text-faults.ts";

/** Every mutation operator, those that execution can reveal first. */
export const mutationOperators: readonly MutationOperator[] = [...sourceFaults, ...valueFaults, ...resourceFaults, ...stateFaults, ...oracleFaults, ...checkFaults, ...semanticFaults];

/** The operators of these ids, in the order of `mutationOperators`. @throws usage.operators for an unknown id */
export function operatorsOf(ids: readonly string[]): MutationOperator[] {
  const unknown = ids.find((id) => !mutationOperators.some((operator) => operator.id === id));
  if (unknown !== undefined) throw new SpadeError("usage.operators", `There is no mutation operator "${unknown}". Operators: ${mutationOperators.map(({ id }) => id).join(", ")}.`);
  return mutationOperators.filter(({ id }) => ids.includes(id));
}
