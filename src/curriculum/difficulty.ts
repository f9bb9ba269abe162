/** Levels of difficulty at which a program is played, and what was seen at the highest. Plain JSON. */
export interface DifficultyRange {
  readonly low: number;
  readonly high: number;
  /** Problems (seeds) played at `high` since the range last moved or was looked at. */
  readonly attempts: number;
  /** Sum of their win rates. */
  readonly wins: number;
}

/** When a range moves up. */
export interface SlidingWindow {
  /** Win rate at `high` from which on the next level is opened. */
  readonly accuracy: number;
  /** Problems after which the win rate is looked at; then counting begins anew. */
  readonly attempts: number;
  /** Most levels in the range. */
  readonly width: number;
}

/** The range before the first play: one level. */
export function firstRange(level: number): DifficultyRange {
  return { low: level, high: level, attempts: 0, wins: 0 };
}

/** A range after problems were played at its highest level (RLVE's adaptive difficulty); `winRates` has one entry per problem. */
export function afterProblems(range: DifficultyRange, winRates: readonly number[], rule: SlidingWindow): DifficultyRange {
  const attempts = range.attempts + winRates.length;
  const wins = range.wins + winRates.reduce((sum, rate) => sum + rate, 0);
  if (attempts < rule.attempts) return { ...range, attempts, wins };
  const high = wins / attempts >= rule.accuracy ? range.high + 1 : range.high;
  return { low: Math.max(range.low, high - rule.width + 1), high, attempts: 0, wins: 0 };
}

const declaration = /^(?<head>[ \t]*(?:(?:static|readonly) )*difficulty(?:: \w+)? = )(?<level>\d+)\b/m;

/** The level at which a program is written: the number in its line `difficulty = N`. Absent when the program takes none. */
export function declaredDifficulty(source: string): number | undefined {
  const level = declaration.exec(source)?.groups?.["level"];
  return level === undefined ? undefined : Number(level);
}

/** A program at another level: the same text with another number in the line that declares it. */
export function atDifficulty(source: string, level: number): string {
  return source.replace(declaration, `$<head>${level}`);
}
