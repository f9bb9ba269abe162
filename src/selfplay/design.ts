import { spokenPart } from "../chat/action.ts";
import type { Prompt } from "../core/chat.ts";
import type { DesignTask, Extraction } from "../core/environment.ts";
import { invariant } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import type { TrainableTrajectory } from "../core/trajectory.ts";
import { extractProgram } from "../designer/extract.ts";
import type { Rejection } from "../designer/prompts.ts";
import { admit, type Admission } from "../gates/admit.ts";
import { type HintVerdict, judgeHint } from "../gates/hint.ts";
import type { ArchivedProgram } from "../gates/novelty.ts";
import { Lanes } from "../gates/over-lanes.ts";
import { rejectingGate } from "../gates/record.ts";
import { promptTokens, saidIn, sampledCount, withPrompt, withSample } from "../policy/either.ts";
import type { AnySample, Sampling } from "../policy/policy.ts";
import type { Ask, Rank } from "../policy/sampling-tasks.ts";
import type { StoredEnvironment } from "../report/run-rows.ts";
import { urgently } from "../sandbox/sandbox.ts";
import type { DesignDependencies, Designer } from "./dependencies.ts";
import type { Stage } from "./events.ts";

/** One candidate: what the designer wrote for a task and what the gates said. */
export interface Design {
  /** Unique in the run: `<task>.<attempt>`; the environment's id if it is admitted. */
  readonly id: string;
  readonly task: DesignTask;
  readonly attempt: number;
  readonly response: string;
  readonly extraction: Extraction;
  /** Empty where the policy gives text only. */
  readonly trajectory: TrainableTrajectory;
  /** Tokens that the designer sampled for it, as far as they are known. */
  readonly tokens: number;
  readonly admission: Admission;
}

/** A hint call: what was written and whether it may be used. */
export interface HintCall {
  readonly designId: string;
  readonly text: string;
  readonly trajectory: TrainableTrajectory;
  readonly verdict: HintVerdict;
}

/** What the designer's calls of one iteration share. */
export interface Designing {
  readonly iteration: number;
  readonly archive: readonly ArchivedProgram[];
  /** For the gates, one candidate each. */
  readonly lanes: Lanes;
  readonly reports: Readonly<Record<"design" | "gates" | "hints", StageCount>>;
}

/** Counts the parts of a stage that go on beside those of others; its seconds are those in which one of them was under way. */
interface StageCount {
  begin(): void;
  end(tokens?: number): void;
}

function stageCount(stage: Stage, { iteration, total, deps }: { readonly iteration: number; readonly total: number; readonly deps: DesignDependencies }): StageCount {
  const { clock, listener } = deps;
  let [begun, done, tokens, since, busyMs] = [0, 0, 0, 0, 0];
  const tell = (): void => listener({ kind: "stage", iteration, stage, done, total: Math.max(total, begun), tokens, seconds: busyMs / 1000 });
  return {
    begin: () => {
      if (begun === done) since = clock();
      begun += 1;
      if (begun === 1) tell();
    },
    end: (sampled = 0) => {
      const now = clock();
      [busyMs, since] = [busyMs + now - since, now];
      [done, tokens] = [done + 1, tokens + sampled];
      tell();
    },
  };
}

/** Prepares the designer's calls and the gates for a number of tasks; `archive` as `earlierPrograms` gives it. */
export function beginDesigning(iteration: number, tasks: number, archive: readonly ArchivedProgram[], deps: DesignDependencies): Designing {
  const count = (stage: Stage, total: number): StageCount => stageCount(stage, { iteration, total, deps });
  return { iteration, archive, lanes: new Lanes(deps.sandbox.lanes), reports: { design: count("design", tasks), gates: count("gates", tasks), hints: count("hints", 0) } };
}

/** Stages of an iteration's requests: a policy that is asked in batches makes those of an earlier one first. */
export const stages = { design: 0, hint: 1, play: 2 } as const;

/**
 * Samples a candidate for a task, judges it, and tries again where it was rejected, up to `maxAttempts` times. All candidates are
 * returned, in order.
 */
export async function writeDesigns(task: DesignTask, index: number, { ask, designing }: { readonly ask: Ask; readonly designing: Designing }, deps: DesignDependencies): Promise<Design[]> {
  const designs: Design[] = [];
  for (let attempt = 0; attempt < deps.config.design.maxAttempts; attempt++) {
    const draft = await sampleDesign({ task, attempt, rejection: rejectionOf(designs.at(-1)) }, { ask, designing, rank: [stages.design, attempt, index] }, deps);
    const design = { ...draft, admission: await judge(draft, designing, deps) };
    designs.push(design);
    if (isAdmitted(design)) break;
  }
  return designs;
}

function rejectionOf(design: Design | undefined): Rejection | undefined {
  const gate = design === undefined ? undefined : rejectingGate(design.admission.record);
  return gate === undefined ? undefined : { gate: gate.id, code: gate.code, message: gate.message };
}

/** What gate `novelty` compares with: the environments admitted in earlier iterations, so that a resumed run sees the same ones. */
export function earlierPrograms(known: Iterable<StoredEnvironment>, { gates }: Pick<DesignDependencies, "gates">): ArchivedProgram[] {
  if (!gates.novelty.enabled) return [];
  return [...known].flatMap(({ environment: { id }, facts }) => (facts.fingerprint === undefined ? [] : [{ id, ...facts.fingerprint }]));
}

/** Whether all gates passed. */
export function isAdmitted(design: Design): boolean {
  return design.admission.record.verdict === "admitted";
}

/** A candidate before the gates. */
export type Draft = Omit<Design, "admission">;

interface Attempt {
  readonly task: DesignTask;
  readonly attempt: number;
  /** Why the candidate before this one was refused. */
  readonly rejection: Rejection | undefined;
}

/** How a call of the designer's role is made. */
interface Call {
  readonly ask: Ask;
  readonly designing: Designing;
  readonly rank: Rank;
}

async function sampleDesign({ task, attempt, rejection }: Attempt, call: Call, { config, designer }: DesignDependencies): Promise<Draft> {
  const { iteration, reports } = call.designing;
  const prompt = designer.renderer.prompt(designer.prompts.design(task, config.design.exampleMaxChars, rejection));
  const said = await say(designer, { prompt, sampling: config.design.sampling, seed: deriveSeed(config.run.seed, iteration, task.id, "design", attempt), count: reports.design }, call);
  return { id: `${task.id}.${attempt}`, task, attempt, extraction: extractProgram(spokenPart(said.response)), ...said };
}

type Said = Pick<Design, "response" | "trajectory" | "tokens">;

/** One call. */
async function say({ policy, renderer }: Designer, { prompt, sampling, seed, count }: { readonly prompt: Prompt; readonly sampling: Sampling; readonly seed: number; readonly count: StageCount }, { ask, rank }: Call): Promise<Said> {
  const sample = await ask(policy, { prompt, sampling: roomFor(sampling, promptTokens(prompt), policy.contextLength), seed }, { rank, onBegin: () => count.begin() });
  const tokens = sampledCount(sample);
  count.end(tokens);
  return { response: renderer.text(saidIn(sample)), trajectory: designerRow(prompt, sample), tokens };
}

/** Runs the gates on a candidate. */
export async function judge({ id, response, extraction, task }: Draft, { lanes, archive, reports }: Designing, deps: DesignDependencies): Promise<Admission> {
  const { sandbox, gates, config, clock, auditor } = deps;
  const candidate = { id, text: response, extraction, document: task.documentText };
  reports.gates.begin();
  // Whoever is played already has time: the last design is what an iteration waits for. Nor may play use up a gate's time.
  const options = { sandbox: urgently(sandbox), config: gates, archive, seed: config.run.seed, clock, ...(auditor === undefined ? {} : { auditor }) };
  const admission = await lanes.run((lane) => admit(candidate, { ...options, lane }));
  reports.gates.end();
  return admission;
}

/** Writes the hint of an admitted design in a separate call that sees the source, and judges it. */
export async function writeHint(design: Design, call: Call, deps: DesignDependencies): Promise<HintCall> {
  const { config, hinter = deps.designer } = deps;
  const { iteration, reports } = call.designing;
  const prompt = hinter.renderer.prompt(hinter.prompts.hint(sourceOf(design)));
  const { response, trajectory } = await say(hinter, { prompt, sampling: config.design.hintSampling, seed: deriveSeed(config.run.seed, iteration, design.id, "hint"), count: reports.hints }, call);
  const text = spokenPart(response).trim();
  return { designId: design.id, text, trajectory, verdict: await judgeDesignHint(text, design, deps) };
}

function judgeDesignHint(text: string, { id, admission: { program, solutions } }: Design, { gates, sandbox, clock, config }: DesignDependencies): Promise<HintVerdict> {
  invariant(program !== undefined, "an admitted design has a program");
  return judgeHint(text, { sandbox: urgently(sandbox), config: gates, program, solutions, seed: deriveSeed(config.run.seed, id, "hint-play"), clock });
}

function sourceOf(design: Design): string {
  invariant(design.admission.program !== undefined, "an admitted design has a program");
  return design.admission.program.source;
}

function designerRow(prompt: Prompt, sample: AnySample): TrainableTrajectory {
  const start: TrainableTrajectory = { role: "designer", arm: "plain", segments: [] };
  return withSample(withPrompt(start, prompt), sample);
}

function roomFor<S extends { readonly maxTokens: number }>(sampling: S, promptLength: number, contextLength: number): S {
  return { ...sampling, maxTokens: Math.max(1, Math.min(sampling.maxTokens, contextLength - promptLength)) };
}
