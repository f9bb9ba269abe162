import { invariant } from "../core/errors.ts";

/**
 * Skills designed for in the `round`-th set of environments (from 0): `active` at a time, round-robin, so that each skill gets equally
 * many turns (algorithm, section 4).
 */
export function activeSkills(skills: readonly string[], active: number, round: number): readonly string[] {
  invariant(active >= 1 && active <= skills.length, `between 1 and ${skills.length} skills are active (got ${active})`);
  const start = (round * active) % skills.length;
  return Array.from({ length: active }, (_, i) => skills[(start + i) % skills.length] as string);
}

/** The skill of each of `tasks` design tasks: the active skills in turn, so that their counts differ by at most one. */
export function assignSkills(active: readonly string[], tasks: number): readonly string[] {
  invariant(active.length > 0, "some skill is active");
  return Array.from({ length: tasks }, (_, i) => active[i % active.length] as string);
}
