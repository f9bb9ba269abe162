import type { GuestResult, InstanceId, ProgramHandle } from "../sandbox/sandbox.ts";
import { type GateContext, type SolvedSeed, solvedSeeds } from "./context.ts";
import { need, shorten } from "./probe.ts";
import { withoutActions } from "./profile.ts";
import { type Evidence, Rejection } from "./record.ts";
import { describe, inspector, type Look, readLook, type Tool, toolBases } from "./tool-inspector.ts";

/**
 * Deterministic checks of a program that derives from `ToolUseBaseEnv` or `ToolUseBase` (gates.md, section 1): every criterion can be
 * evaluated, is false at reset and becomes true in order, one per message, under the replayed solution; tool schemas
 * equal the signatures of their methods; the solution's calls respect `required` and `enum`; distractors exist.
 * Not applicable to other programs.
 * @throws Rejection with the check's code, the seed, the criterion or tool.
 */
export async function toolUse(context: GateContext): Promise<Evidence> {
  const { program, handle, sandbox } = context;
  const limits = context.config["tool-use"];
  const proseOnly = await withoutActions(context);
  if (proseOnly !== undefined) return { notApplicable: proseOnly };
  const base = toolBases[program.language];
  if (!program.source.includes(base)) return { notApplicable: `the program does not use ${base}` };
  const opened = need(await sandbox.open(inspector(program, handle.facts.entry)), "inspection", {});
  try {
    const seeds = (await solvedSeeds(context)).slice(0, limits.seeds);
    const looks: Look[] = [];
    for (const solved of seeds) {
      const replay = await inspectReplay(opened, solved);
      if (replay === undefined) return { notApplicable: `the entry class does not derive from ${base}` };
      judgeTools(replay.start, solved.seed);
      judgeGoal(replay.start, solved.seed);
      judgeCalls(replay, solved.seed);
      judgeCriteria(replay, solved.seed);
      judgeDistractors(replay, solved.seed, limits.minDistractors);
      looks.push(replay.start);
    }
    return { seeds: seeds.length, tools: looks[0]?.tools.length ?? 0, criteria: looks.map(({ criteria }) => criteria.length) };
  } finally {
    await opened.close();
  }
}

interface Replay {
  readonly start: Look;
  /** After each action of the solution. */
  readonly after: readonly Look[];
}

/** A reset and the solution's replay, looked at after each action; undefined when the program is no tool-use program. */
async function inspectReplay(handle: ProgramHandle, { seed, solution }: SolvedSeed): Promise<Replay | undefined> {
  const [created] = await handle.create([seed]);
  const { instance } = need(created, "reset", { seed });
  const look = async (action: string): Promise<Look | undefined> => readLook(await stepText(handle, instance, action), seed);
  const start = await look(describe);
  const after: Look[] = [];
  for (const action of start === undefined ? [] : solution) {
    const next = await look(action);
    if (next !== undefined) after.push(next);
  }
  await handle.release([instance]);
  return start === undefined ? undefined : { start, after };
}

async function stepText(handle: ProgramHandle, instance: InstanceId, action: string): Promise<string> {
  const [result]: readonly GuestResult<{ readonly observation: string }>[] = await handle.step([{ instance, action }]);
  return need(result, "inspection", { action: shorten(action) }).observation;
}

function judgeGoal(start: Look, seed: number): void {
  const { messages, criteria, expectsAnswer } = start;
  if (messages !== criteria.length) {
    throw new Rejection("criteria-count", `${messages} messages have ${criteria.length} criteria on seed ${seed}; expected one criterion per message.`, { seed, messages, criteria: criteria.length });
  }
  if (messages === 0 && !expectsAnswer) {
    throw new Rejection("no-goal", `Seed ${seed} has neither an expected answer nor messages with criteria; nothing can be won.`, { seed });
  }
}

/** Rejects criteria that raise, hold at reset, never hold, or hold out of order. */
function judgeCriteria({ start, after }: Replay, seed: number): void {
  [start, ...after].forEach((look, turn) => {
    const raising = look.criteria.findIndex(({ error }) => error !== undefined);
    const error = look.criteria[raising]?.error;
    if (error !== undefined) throw new Rejection("criterion-raises", `Criterion ${raising + 1} raises on seed ${seed} after ${turn} actions: ${shorten(error)}.`, { seed, criterion: raising, turn });
  });
  after.forEach(({ stepError }, turn) => {
    if (stepError !== "") throw new Rejection("raise", `Action ${turn + 1} of solution() raises on seed ${seed}: ${shorten(stepError)}.`, { seed, turn });
  });
  const held = start.criteria.findIndex(({ holds }) => holds);
  if (held >= 0) throw new Rejection("criterion-held", `Criterion ${held + 1} holds at reset on seed ${seed}; expected every criterion to be false before anything is done.`, { seed, criterion: held });
  const flips = start.criteria.map((_, i) => after.findIndex(({ criteria }) => criteria[i]?.holds === true));
  flips.forEach((turn, i) => {
    if (turn < 0) throw new Rejection("criterion-never", `Criterion ${i + 1} never holds while solution() is replayed on seed ${seed}.`, { seed, criterion: i });
    const before = flips[i - 1] ?? -1;
    if (turn <= before) {
      const message = `Criterion ${i + 1} holds after action ${turn + 1} on seed ${seed}, criterion ${i} only after action ${before + 1}; expected them to become true in order, one after the other.`;
      throw new Rejection("criterion-order", message, { seed, flips });
    }
  });
}

/** Rejects schemas that do not describe their methods. */
function judgeTools({ tools, methods }: Look, seed: number): void {
  const fail = (code: string, message: string, tool: string): never => {
    throw new Rejection(code, message, { seed, tool });
  };
  if (tools.length === 0) fail("no-tools", `Seed ${seed} declares no tools.`, "");
  if (new Set(tools.map(({ name }) => name)).size !== tools.length) fail("tool-twice", "Two tools have the same name.", "");
  const declared = new Set(tools.map(({ method }) => method));
  const undeclared = methods.find((method) => !declared.has(method));
  if (undeclared !== undefined) fail("tool-undeclared", `Method ${undeclared} has no schema; agents cannot know of it.`, undeclared);
  for (const tool of tools) judgeTool(tool, fail);
}

function judgeTool({ name, signature, properties, required, defaults, badEnum }: Tool, fail: (code: string, message: string, tool: string) => never): void {
  if (signature === undefined) return fail("tool-missing", `Tool ${name} has a schema but no method tool_${name}.`, name);
  const given = Object.keys(properties);
  if (!sameSet(given, signature)) fail("tool-parameters", `Tool ${name} declares (${given.join(", ")}) but its method takes (${signature.join(", ")}).`, name);
  const needed = signature.filter((parameter) => !defaults.includes(parameter));
  if (!sameSet(required, needed)) fail("tool-required", `Tool ${name} requires (${required.join(", ")}) but its method needs (${needed.join(", ")}).`, name);
  const untyped = given.find((parameter) => properties[parameter] === "");
  if (untyped !== undefined) fail("tool-type", `Parameter ${untyped} of tool ${name} has no JSON schema type.`, name);
  if (badEnum !== "") fail("tool-enum", `Tool ${name}: ${badEnum}`, name);
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && new Set([...a, ...b]).size === a.length;
}

/** Rejects a solution with a call that its schema does not admit. */
function judgeCalls({ after }: Replay, seed: number): void {
  for (const [turn, { refusals }] of after.entries()) {
    const refused = refusals[0];
    if (refused !== undefined) throw new Rejection("solution-call", `Action ${turn + 1} of solution() breaks a schema on seed ${seed}: ${shorten(refused)}.`, { seed, turn });
  }
}

/** Rejects a program whose solution needs (almost) every tool there is. */
function judgeDistractors({ start, after }: Replay, seed: number, minDistractors: number): void {
  const used = new Set(after.flatMap(({ called }) => called));
  const unused = start.tools.filter(({ name }) => !used.has(name));
  if (unused.length < minDistractors) {
    throw new Rejection("no-distractor", `solution() uses all but ${unused.length} of the ${start.tools.length} tools on seed ${seed}; at least ${minDistractors} should not be needed.`, { seed, unused: unused.length });
  }
}
