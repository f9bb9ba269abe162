import { remember } from "./archive.ts";
import type { ArchiveEntry } from "./archive.ts";

/** Running averages of a skill's mean return, for `learningPotential`. */
export interface SkillAverages {
  readonly fast: number;
  readonly slow: number;
}

/** All that one iteration hands to the next besides the policy. Plain JSON; never mutated. */
export interface CurriculumState {
  readonly archive: readonly ArchiveEntry[];
  readonly averages: Readonly<Record<string, SkillAverages>>;
}

/** The state before the first iteration. */
export const initialState: CurriculumState = { archive: [], averages: {} };

/** Takes measured environments into the archive. */
export function withEntries(state: CurriculumState, entries: readonly ArchiveEntry[], memorySize: number): CurriculumState {
  return { ...state, archive: remember(state.archive, entries, memorySize) };
}

/** Moves a skill's averages towards a mean return; the rates weight the new value. The first value starts both. */
export function withReturn(state: CurriculumState, skill: string, meanReturn: number, rates: { readonly fastRate: number; readonly slowRate: number }): CurriculumState {
  const old = state.averages[skill] ?? { fast: meanReturn, slow: meanReturn };
  const toward = (from: number, rate: number): number => from + rate * (meanReturn - from);
  return { ...state, averages: { ...state.averages, [skill]: { fast: toward(old.fast, rates.fastRate), slow: toward(old.slow, rates.slowRate) } } };
}
