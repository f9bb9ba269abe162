import type { Episode, Turn } from "../core/episode.ts";
import type { GuestResult, InstanceId, ProgramHandle, StepValue } from "../sandbox/sandbox.ts";

/** What the record of an episode says that its environment must do again. */
export type PlayedEpisode = Pick<Episode, "seed" | "turns" | "outcome">;

/** The first point at which a replay is not what was recorded. */
export interface Difference {
  /** Turn from 0; the observation of turn 0 is the one of `reset`. */
  readonly turn: number;
  readonly what: "observation" | "reward" | "terminated" | "truncated" | "failure";
  /** Absent where nothing of the kind was recorded. */
  readonly recorded?: string | number | boolean;
  readonly replayed?: string | number | boolean;
}

export interface Replay {
  /** Steps that were made again. */
  readonly steps: number;
  /** Absent where every observation, reward and flag was the same. */
  readonly difference?: Difference;
  /** The instance after the last step and what it shows; absent where it failed. */
  readonly end?: { readonly instance: InstanceId; readonly observation: string };
}

/** One recorded step: what it must show. Absent fields were not recorded. */
interface Expected {
  readonly action: string;
  readonly failure?: string;
  readonly reward: number;
  readonly terminated: boolean;
  readonly truncated: boolean;
  /** What the policy saw next; absent after the last step. */
  readonly observation?: string;
}

/**
 * Runs a recorded episode again, from seed and actions, and compares every observation, reward and flag with the record, up to
 * the first difference. `steps` limits how far (default: all). The caller frees the instance.
 */
export async function replayEpisode(handle: ProgramHandle, episode: PlayedEpisode, steps = Infinity): Promise<Replay> {
  const expected = expectedSteps(episode);
  const created = (await handle.create([episode.seed]))[0];
  const failsAtStart = episode.turns.length === 0 ? failureOf(episode.outcome) : undefined;
  if (created?.ok !== true || failsAtStart !== undefined) return { steps: 0, ...failureDifference(0, failsAtStart, created) };
  const { instance } = created.value;
  let { observation } = created.value;
  const first = episode.turns[0]?.observation;
  if (first !== undefined && first !== observation) return { steps: 0, difference: { turn: 0, what: "observation", recorded: first, replayed: observation } };
  let turn = 0;
  for (const step of expected.slice(0, steps)) {
    const result = (await handle.step([{ instance, action: step.action }]))[0];
    if (result?.ok !== true || step.failure !== undefined) return { steps: turn, ...failureDifference(turn, step.failure, result) };
    const difference = compare(turn, step, result.value);
    if (difference !== undefined) return { steps: turn, difference };
    turn++;
    ({ observation } = result.value);
  }
  return { steps: turn, end: { instance, observation } };
}

/** The recorded steps; a response without an action made none. */
export function expectedSteps({ turns, outcome }: PlayedEpisode): readonly Expected[] {
  return turns.flatMap((turn: Turn, i) => {
    if (turn.action === undefined) return [];
    const isLast = i === turns.length - 1;
    const failure = isLast ? failureOf(outcome) : undefined;
    const next = turns[i + 1]?.observation;
    return [
      {
        action: turn.action,
        reward: turn.reward,
        terminated: isLast && outcome.kind === "terminated",
        truncated: isLast && outcome.kind === "truncated" && outcome.reason === "environment",
        ...(failure === undefined ? {} : { failure }),
        ...(next === undefined ? {} : { observation: next }),
      },
    ];
  });
}

/** Code with which the environment must fail. An episode that the sandbox or the policy broke off says nothing about it. */
function failureOf(outcome: Episode["outcome"]): string | undefined {
  return outcome.kind === "failed" && outcome.boundary === "environment" ? outcome.code : undefined;
}

function failureDifference(turn: number, recorded: string | undefined, result: GuestResult<unknown> | undefined): { readonly difference?: Difference } {
  const replayed = result?.ok === false ? result.failure.code : undefined;
  if (recorded === replayed) return {};
  return { difference: { turn, what: "failure", ...(recorded === undefined ? {} : { recorded }), ...(replayed === undefined ? {} : { replayed }) } };
}

function compare(turn: number, step: Expected, value: StepValue): Difference | undefined {
  for (const what of ["reward", "terminated", "truncated"] as const) {
    if (step[what] !== value[what]) return { turn, what, recorded: step[what], replayed: value[what] };
  }
  if (step.observation === undefined || step.observation === value.observation) return undefined;
  return { turn: turn + 1, what: "observation", recorded: step.observation, replayed: value.observation };
}
