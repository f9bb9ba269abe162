import { remember } from "./archive.ts";
import type { ArchiveEntry } from "./archive.ts";

/** Running averages of a skill's mean return, for `learningPotential`. */
export interface SkillAverages {
  readonly fast: number;
  readonly slow: number;
}

/** A design whose reward waits for the end of its window. Its tokens stay in the record, under `environmentId`. */
export interface WaitingDesign {
  readonly environmentId: string;
  readonly skill: string;
  readonly family: string;
  /** Iteration in which it was designed; its regret was measured then. */
  readonly iteration: number;
}

/** The environments that are played now. Source, hint and the rest are in the record, under these ids. */
export interface CurrentSet {
  readonly environmentIds: readonly string[];
  /** Iteration in which the set was made. */
  readonly since: number;
}

/** All that one iteration hands to the next besides the policy. Plain JSON; never mutated. */
export interface CurriculumState {
  readonly archive: readonly ArchiveEntry[];
  readonly averages: Readonly<Record<string, SkillAverages>>;
  readonly waiting: readonly WaitingDesign[];
  /** Absent before the first set. */
  readonly current?: CurrentSet;
}

/** The state before the first iteration. */
export const initialState: CurriculumState = { archive: [], averages: {}, waiting: [] };

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

/** True when iteration `iteration` designs a new set: there is none, or the current one has been played for `regenerateEvery` iterations. */
export function mustRegenerate(state: CurriculumState, iteration: number, regenerateEvery: number): boolean {
  return state.current === undefined || iteration - state.current.since >= regenerateEvery;
}

/** Replaces the set of environments that is played. */
export function withCurrent(state: CurriculumState, current: CurrentSet): CurriculumState {
  return { ...state, current };
}

/** Lets designs wait for their window. */
export function withWaiting(state: CurriculumState, designs: readonly WaitingDesign[]): CurriculumState {
  return { ...state, waiting: [...state.waiting, ...designs] };
}

/**
 * Takes out the designs whose window of `regenerateEvery` iterations is complete once `iteration` has been played: with 1, those designed
 * in `iteration` itself.
 */
export function takeMeasured(
  state: CurriculumState,
  iteration: number,
  regenerateEvery: number,
): { readonly state: CurriculumState; readonly measured: readonly WaitingDesign[] } {
  const isMeasured = (design: WaitingDesign): boolean => iteration - design.iteration >= regenerateEvery - 1;
  return { state: { ...state, waiting: state.waiting.filter((design) => !isMeasured(design)) }, measured: state.waiting.filter(isMeasured) };
}
