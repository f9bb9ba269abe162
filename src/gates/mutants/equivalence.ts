import { canonicalJson } from "../../core/digest.ts";
import type { Program } from "../../core/environment.ts";
import { SpadeError } from "../../core/errors.ts";
import { deriveSeed } from "../../core/seed.ts";
import type { GuestResult, Sandbox } from "../../sandbox/sandbox.ts";
import { oddActions } from "../behaviour.ts";
import type { GatesConfig } from "../config.ts";
import { type GateContext, gateContext } from "../context.ts";
import { namedActionPlayer } from "../players.ts";
import { closeQuietly, type Play, script } from "../probe.ts";
import { Rejection } from "../record.ts";

export interface EquivalenceOptions {
  readonly sandbox: Sandbox;
  readonly config: GatesConfig;
  readonly seed: number;
  readonly lane?: number;
}

/** Seeds on which a mutant is compared with its original. */
const comparedSeeds = 20;

/** A comparison takes as long as it takes; each call has its own limits. */
const timeless = (): number => 0;

/** Few instances, so that each plays many episodes: faults that need a used instance show. */
const width = 2;

/**
 * True when a mutant shows no difference to its original: equal first observations and solutions on 20 seeds, and equal
 * traces of the original's solution, of odd and constant actions and of actions named in the text, to the end. A mutant
 * that fails is different. Undefined when the original itself fails: then there is nothing to compare with.
 */
export async function isEquivalent(original: Program, mutant: Program, options: EquivalenceOptions): Promise<boolean | undefined> {
  const seeds = Array.from({ length: comparedSeeds }, (_, i) => (i < comparedSeeds / 2 ? i : deriveSeed(options.seed, "equivalence", i)));
  const expected = await portrait(original, { seeds, options });
  if (expected === undefined) return undefined;
  return expected.text === (await portrait(mutant, { seeds, options, solutions: expected.solutions }))?.text;
}

interface Portrait {
  readonly text: string;
  readonly solutions: readonly (readonly string[])[];
}

/** What a program shows on the seeds, played by the given solutions (default: its own); undefined when it fails. */
async function portrait(program: Program, { seeds, options, solutions }: { seeds: readonly number[]; options: EquivalenceOptions; solutions?: Portrait["solutions"] }): Promise<Portrait | undefined> {
  const { sandbox, config, seed, lane } = options;
  const opened = await sandbox.open(program, lane === undefined ? {} : { lane });
  if (!opened.ok) return undefined;
  const handle = opened.value;
  try {
    const context = gateContext({ config, sandbox, program, handle, document: "", archive: [], seed, clock: timeless });
    const look = await context.lookAt(seeds);
    const played = solutions ?? look.solutions.map(actionsOf);
    const traces = await playAll(context, seeds, played);
    return { text: canonicalJson({ observations: look.observations, solutions: look.solutions.map(actionsOf), traces }), solutions: played };
  } catch (error) {
    if (error instanceof Rejection || (error instanceof SpadeError && error.boundary === "sandbox")) return undefined;
    throw error;
  } finally {
    await closeQuietly(handle);
  }
}

function actionsOf(result: GuestResult<readonly string[]>): readonly string[] {
  return result.ok ? result.value : [result.failure.code];
}

async function playAll(context: GateContext, seeds: readonly number[], solutions: Portrait["solutions"]): Promise<unknown> {
  const plays = seeds.flatMap((seed, i): Play[] => [
    { seed, player: script(solutions[i] ?? []) },
    { seed, player: () => "0" },
    { seed, player: namedActionPlayer, playerSeed: deriveSeed(context.seed, "equivalence", "named", seed) },
    { seed, player: script(oddActions) },
    ...oddActions.slice(i % 4, (i % 4) + 2).map((action): Play => ({ seed, player: script([action]) })),
  ]);
  return context.run(plays, { width });
}
