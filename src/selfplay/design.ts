import type { DesignTask } from "../core/environment.ts";
import { invariant } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import { append, type TrainableTrajectory } from "../core/trajectory.ts";
import { extractProgram } from "../designer/extract.ts";
import type { Rejection } from "../designer/prompts.ts";
import { promptSets } from "../designer/prompt-sets.ts";
import { admit, type Admission } from "../gates/admit.ts";
import { type HintVerdict, judgeHint } from "../gates/hint.ts";
import type { ArchivedProgram } from "../gates/novelty.ts";
import { Lanes } from "../gates/over-lanes.ts";
import { rejectingGate } from "../gates/record.ts";
import type { Sample } from "../policy/policy.ts";
import type { Ask, Rank } from "../policy/sampling-tasks.ts";
import type { StoredEnvironment } from "../report/run-rows.ts";
import { urgently } from "../sandbox/sandbox.ts";
import { type Dependencies, stageReporter } from "./dependencies.ts";

/** One candidate: what the designer wrote for a task and what the gates said. */
export interface Design {
  /** Unique in the run: `<task>.<attempt>`; the environment's id if it is admitted. */
  readonly id: string;
  readonly task: DesignTask;
  readonly attempt: number;
  readonly response: string;
  readonly trajectory: TrainableTrajectory;
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
  readonly reports: Readonly<Record<"design" | "gates" | "hints", (tokens?: number) => void>>;
}

/** Prepares the designer's calls for a number of tasks; `archive` as `earlierPrograms` gives it. */
export function beginDesigning(iteration: number, tasks: number, archive: readonly ArchivedProgram[], deps: Dependencies): Designing {
  const counter = (stage: "design" | "gates" | "hints"): ((tokens?: number) => void) => {
    const report = stageReporter(deps, iteration, stage);
    const counts = { done: 0, tokens: 0 };
    if (stage === "design") report({ done: 0, total: tasks });
    return (tokens = 0) => {
      counts.done += 1;
      counts.tokens += tokens;
      report({ done: counts.done, total: Math.max(tasks, counts.done), tokens: counts.tokens });
    };
  };
  return { iteration, archive, lanes: new Lanes(deps.sandbox.lanes), reports: { design: counter("design"), gates: counter("gates"), hints: counter("hints") } };
}

/** Stages of an iteration's requests: a policy that is asked in batches makes those of an earlier one first. */
export const stages = { design: 0, hint: 1, play: 2 } as const;

/**
 * Samples a candidate for a task, judges it, and tries again where it was rejected, up to `maxAttempts` times. All candidates are
 * returned, in order.
 */
export async function writeDesigns(task: DesignTask, index: number, { ask, designing }: { readonly ask: Ask; readonly designing: Designing }, deps: Dependencies): Promise<Design[]> {
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
export function earlierPrograms(known: Iterable<StoredEnvironment>, { gates }: Pick<Dependencies, "gates">): ArchivedProgram[] {
  if (!gates.novelty.enabled) return [];
  return [...known].flatMap(({ environment: { id }, facts }) => (facts.fingerprint === undefined ? [] : [{ id, ...facts.fingerprint }]));
}

/** Whether all gates passed. */
export function isAdmitted(design: Design): boolean {
  return design.admission.record.verdict === "admitted";
}

type Draft = Omit<Design, "admission">;

interface Attempt {
  readonly task: DesignTask;
  readonly attempt: number;
  /** Why the candidate before this one was refused. */
  readonly rejection: Rejection | undefined;
}

/** How a call of the designer is made. */
interface Call {
  readonly ask: Ask;
  readonly designing: Designing;
  readonly rank: Rank;
}

async function sampleDesign({ task, attempt, rejection }: Attempt, { ask, designing, rank }: Call, deps: Dependencies): Promise<Draft> {
  const { config, policy, renderer } = deps;
  const prompt = renderer.prompt(promptSets[config.prompts].design(task, config.design.exampleMaxChars, rejection));
  const request = { prompt, sampling: roomFor(config.design.sampling, prompt.length, policy.contextLength), seed: deriveSeed(config.run.seed, designing.iteration, task.id, "design", attempt) };
  const sample = await ask(request, rank);
  designing.reports.design(sample.tokens.length);
  return { id: `${task.id}.${attempt}`, task, attempt, response: renderer.text(sample.tokens), trajectory: designerRow(prompt, sample) };
}

async function judge({ id, response, task }: Draft, { lanes, archive, reports }: Designing, { sandbox, gates, config, clock }: Dependencies): Promise<Admission> {
  const candidate = { id, text: response, extraction: extractProgram(response), document: task.documentText };
  // Whoever is played already has time: the last design is what an iteration waits for. Nor may play use up a gate's time.
  const admission = await lanes.run((lane) => admit(candidate, { sandbox: urgently(sandbox), config: gates, archive, seed: config.run.seed, clock, lane }));
  reports.gates();
  return admission;
}

/** Writes the hint of an admitted design in a separate call that sees the source, and judges it. */
export async function writeHint(design: Design, { ask, designing, rank }: Call, deps: Dependencies): Promise<HintCall> {
  const { config, policy, renderer } = deps;
  const prompt = renderer.prompt(promptSets[config.prompts].hint(sourceOf(design)));
  const sample = await ask({ prompt, sampling: roomFor(config.design.hintSampling, prompt.length, policy.contextLength), seed: deriveSeed(config.run.seed, designing.iteration, design.id, "hint") }, rank);
  designing.reports.hints(sample.tokens.length);
  const text = renderer.text(sample.tokens).trim();
  return { designId: design.id, text, trajectory: designerRow(prompt, sample), verdict: await judgeDesignHint(text, design, deps) };
}

function judgeDesignHint(text: string, { id, admission: { program, solutions } }: Design, { gates, sandbox, clock, config }: Dependencies): Promise<HintVerdict> {
  invariant(program !== undefined, "an admitted design has a program");
  return judgeHint(text, { sandbox: urgently(sandbox), config: gates, program, solutions, seed: deriveSeed(config.run.seed, id, "hint-play"), clock });
}

/** Tokens that the designer sampled for a candidate. */
export function sampledTokens({ trajectory }: Design): number {
  return trajectory.segments.reduce((sum, segment) => sum + (segment.kind === "sampled" ? segment.tokens.length : 0), 0);
}

function sourceOf(design: Design): string {
  invariant(design.admission.program !== undefined, "an admitted design has a program");
  return design.admission.program.source;
}

function designerRow(prompt: Int32Array, { tokens, logprobs, policyVersion }: Sample): TrainableTrajectory {
  const start: TrainableTrajectory = { role: "designer", arm: "plain", segments: [] };
  return append(append(start, { kind: "prompt", tokens: prompt }), { kind: "sampled", tokens, logprobs, policyVersion });
}

function roomFor<S extends { readonly maxTokens: number }>(sampling: S, promptLength: number, contextLength: number): S {
  return { ...sampling, maxTokens: Math.max(1, Math.min(sampling.maxTokens, contextLength - promptLength)) };
}
