import type { Config } from "../config/schema.ts";
import { learnability, meanReturn, mergeArms, winRates } from "../credit/returns.ts";
import type { ArchiveEntry } from "../curriculum/archive.ts";
import { afterProblems, type DifficultyRange, firstRange } from "../curriculum/difficulty.ts";
import { type CurriculumState, initialState as initialCurriculum, withEntries, withReturn } from "../curriculum/state.ts";
import { regretOf, type Window, type WindowEnvironment, windowWinRate } from "./measure.ts";

/** All that one iteration hands to the next besides the policy's weights. Plain JSON, stored with every iteration. */
export interface LoopState {
  readonly curriculum: CurriculumState;
  /** Sets of environments designed so far; turns the rotation of skills. */
  readonly round: number;
  /** Absent when the next iteration designs a new set. */
  readonly window?: Window;
  /** Difficulty of each program of an adaptive pool that was played, by the program's id. */
  readonly levels?: Readonly<Record<string, DifficultyRange>>;
}

/** The state before iteration 0. */
export const initialState: LoopState = { curriculum: initialCurriculum, round: 0 };

/** Takes the window's measurements into the archive and the skills' averages, and ends the window when its time is over. */
export function afterIteration(iteration: number, before: LoopState, window: Window, config: Config): LoopState {
  const { memorySize } = config.curriculum;
  const known = new Map(before.curriculum.archive.map((entry) => [entry.id, entry]));
  const entries = window.environments.flatMap((entry) => archiveEntry({ iteration, bornAt: window.bornAt, known: known.get(entry.environment.id) }, entry, config));
  const curriculum = averaged(withEntries(before.curriculum, entries, memorySize), iteration, window, config);
  const over = isLastOfWindow(iteration, window, config);
  return {
    curriculum,
    round: before.round + Number(over),
    ...(over ? {} : { window }),
    ...levelsAfter(before.levels, window, config),
  };
}

/** Takes the plays at each program's highest level into its range. */
function levelsAfter(before: LoopState["levels"], window: Window, { environments }: Config): Pick<LoopState, "levels"> {
  if (environments.kind !== "adaptiveFolder") return {};
  const levels = { ...before };
  for (const { level, arms } of window.environments) {
    if (level === undefined) continue;
    const range = levels[level.of] ?? firstRange(level.value);
    levels[level.of] = level.value === range.high ? afterProblems(range, winRates(mergeArms(arms)), environments) : range;
  }
  return { levels };
}

/** Whether the set of environments is replaced after this iteration. */
export function isLastOfWindow(iteration: number, window: Window, config: Config): boolean {
  return iteration - window.bornAt >= config.design.regenerateEvery - 1;
}

interface ArchiveMoment {
  readonly iteration: number;
  readonly bornAt: number;
  /** What the archive held of the environment before. */
  readonly known: ArchiveEntry | undefined;
}

function archiveEntry({ iteration, bornAt, known }: ArchiveMoment, entry: WindowEnvironment, config: Config): ArchiveEntry[] {
  const winRate = windowWinRate(entry);
  if (winRate === undefined) return [];
  const plain = mergeArms(entry.arms);
  const regret = regretOf(entry, config)?.mean ?? known?.regret;
  const learnable = learnability(plain, entry.environment.trivialWinRate);
  return [
    {
      id: entry.environment.id,
      skill: entry.environment.skill,
      source: entry.environment.program.source,
      iteration: known?.iteration ?? bornAt,
      lastPlayed: iteration,
      plays: plain.seeds.reduce((sum, { returns }) => sum + returns.length, 0),
      winRate,
      ...(regret === undefined ? {} : { regret }),
      ...(learnable === undefined ? {} : { learnability: learnable }),
    },
  ];
}

/** Moves the skills' averages once per window, at generation time; only the reward `learningPotential` reads them. */
function averaged(state: CurriculumState, iteration: number, window: Window, config: Config): CurriculumState {
  const { designerReward } = config;
  if (designerReward.kind !== "learningPotential" || iteration !== window.bornAt) return state;
  return [...Map.groupBy(window.environments, (entry) => entry.environment.skill)].reduce((next, [skill, entries]) => {
    const value = meanReturn(mergeArms(entries.flatMap((entry) => entry.arms)));
    return value === undefined ? next : withReturn(next, skill, value, designerReward);
  }, state);
}
