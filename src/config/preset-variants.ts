import { mergeInputs } from "./merge.ts";
import type { PresetInput } from "./schema.ts";

/** A preset with changes. */
export function over(base: PresetInput, changes: PresetInput): PresetInput {
  return mergeInputs(base, changes) as PresetInput;
}

const noMemory: PresetInput = { design: { positives: 0, negatives: 0 } };

/** The paper's ablations of a preset, named after it; one function, so that each differs from its base in what it ablates and nothing else. */
export function ablations(
  name: string,
  base: PresetInput,
  given: { readonly learningPotential?: { readonly fastRate: number; readonly slowRate: number }; readonly fixedDesigner?: PresetInput["designer"] } = {},
): Readonly<Record<string, PresetInput>> {
  return {
    [`${name}-no-corpus`]: over(base, { design: { documents: false } }),
    [`${name}-no-memory`]: over(base, noMemory),
    [`${name}-frozen-designer`]: over(base, over(noMemory, { designer: { kind: "untrained" } })),
    [`${name}-fixed-designer`]: over(base, { designer: given.fixedDesigner ?? { kind: "fixed" } }),
    [`${name}-learning-potential`]: over(base, { designerReward: { kind: "learningPotential", ...given.learningPotential } }),
    [`${name}-solve-rate`]: over(base, { designerReward: solveRate(base.designerReward) }),
    [`${name}-two-skills`]: over(base, { design: { skills: ["Mathematical Reasoning", "Pattern Recognition"], activeSkills: 2 } }),
  };
}

/** The blend's plateau alone, with the base's shape. */
function solveRate(blend: PresetInput["designerReward"]): NonNullable<PresetInput["designerReward"]> {
  if (blend?.kind !== "blend") return { kind: "solveRate" };
  const { low, high, ramp, stratified, chanceCorrected } = blend;
  return { kind: "solveRate", low, high, ramp, stratified, chanceCorrected };
}

/** Baselines of a preset on the programs of a folder: as they are, and with rising difficulty (RLVE: 0.9, 8 attempts, width 4). */
export function poolBaselines(name: string, base: PresetInput, given: { readonly path?: string; readonly static: PresetInput; readonly adaptive: PresetInput }): Readonly<Record<string, PresetInput>> {
  const folder = given.path === undefined ? {} : { path: given.path };
  return {
    [`${name}-static-pool`]: over(base, over(given.static, { environments: { kind: "folder", ...folder } })),
    [`${name}-adaptive-pool`]: over(base, over(given.adaptive, { environments: { kind: "adaptiveFolder", ...folder, accuracy: 0.9, attempts: 8, width: 4 } })),
  };
}
