import { spokenPart } from "../chat/action.ts";
import type { Prompt } from "../core/chat.ts";
import type { DesignTask, Environment, Extraction } from "../core/environment.ts";
import { invariant } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import type { TrainableTrajectory } from "../core/trajectory.ts";
import { extractProgram } from "../designer/extract.ts";
import type { Rejection } from "../designer/prompts.ts";
import { admitAll, type Admission } from "../gates/admit.ts";
import { type HintVerdict, judgeHint } from "../gates/hint.ts";
import type { ArchivedProgram } from "../gates/novelty.ts";
import { rejectingGate } from "../gates/record.ts";
import { promptTokens, saidIn, sampledCount, withPrompt, withSample } from "../policy/either.ts";
import type { AnySample, Sampling } from "../policy/policy.ts";
import { storedEnvironments } from "../report/run-rows.ts";
import type { ProgramFacts } from "../sandbox/sandbox.ts";
import { type DesignDependencies, type Designer, stageReporter } from "./dependencies.ts";

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

/** An admitted design with its facts, ready to be played. */
export interface AdmittedDesign {
  readonly environment: Environment;
  readonly facts: ProgramFacts;
  /** Tokens that the designer sampled for it, as far as they are known. */
  readonly programTokens: number;
}

/** A hint call: what was written and whether it may be used. */
export interface HintCall {
  readonly designId: string;
  readonly text: string;
  readonly trajectory: TrainableTrajectory;
  readonly verdict: HintVerdict;
}

/**
 * Samples a candidate for every task, judges it, and tries again where it was rejected, up to `maxAttempts` times.
 * All candidates are returned, in order of attempt and task.
 */
export async function writeDesigns(iteration: number, tasks: readonly DesignTask[], deps: DesignDependencies): Promise<Design[]> {
  const { maxAttempts } = deps.config.design;
  const designs: Design[] = [];
  const archive = earlierPrograms(deps);
  let pending: readonly Pending[] = tasks.map((task) => ({ task }));
  for (let attempt = 0; attempt < maxAttempts && pending.length > 0; attempt++) {
    const round = await judge(iteration, { drafts: await sampleDesigns(iteration, pending, attempt, deps), archive }, deps);
    designs.push(...round);
    pending = round.filter((design) => !isAdmitted(design)).map((design) => ({ task: design.task, ...rejectionOf(design) }));
  }
  return designs;
}

/** A task without an admitted design yet, and why its last candidate was refused. */
interface Pending {
  readonly task: DesignTask;
  readonly rejection?: Rejection;
}

function rejectionOf({ admission }: Design): Pick<Pending, "rejection"> {
  const gate = rejectingGate(admission.record);
  return gate === undefined ? {} : { rejection: { gate: gate.id, code: gate.code, message: gate.message } };
}

/** What gate `novelty` compares with: the environments admitted in committed iterations, so that a resumed run sees the same ones. */
export function earlierPrograms({ gates, store }: DesignDependencies): ArchivedProgram[] {
  if (!gates.novelty.enabled) return [];
  return [...storedEnvironments(store)].flatMap(({ id, facts }) => (facts.fingerprint === undefined ? [] : [{ id, ...facts.fingerprint }]));
}

/** Whether all gates passed. */
export function isAdmitted(design: Design): boolean {
  return design.admission.record.verdict === "admitted";
}

/** A candidate before the gates. */
export type Draft = Omit<Design, "admission">;

async function sampleDesigns(iteration: number, pending: readonly Pending[], attempt: number, deps: DesignDependencies): Promise<Draft[]> {
  const { config, designer } = deps;
  const { renderer, prompts: { design } } = designer;
  const report = stageReporter(deps, iteration, "design");
  report({ done: 0, total: pending.length });
  const calls = await call(designer, {
    prompts: pending.map(({ task, rejection }) => renderer.prompt(design(task, config.design.exampleMaxChars, rejection))),
    sampling: config.design.sampling,
    seedOf: (i) => deriveSeed(config.run.seed, iteration, pending[i]?.task.id ?? "", "design", attempt),
  });
  report({ done: pending.length, total: pending.length, tokens: tokensOf(calls) });
  return pending.map(({ task }, i) => {
    const made = calls[i];
    invariant(made !== undefined, "a policy returns one sample per request");
    return { id: `${task.id}.${attempt}`, task, attempt, extraction: extractProgram(spokenPart(made.response)), ...made };
  });
}

/** What the designer said in one call. */
interface Call {
  readonly response: string;
  /** Empty where the policy gives text only. */
  readonly trajectory: TrainableTrajectory;
  /** Tokens that were sampled. */
  readonly tokens: number;
}

/** One call of the designer's role per prompt, in order. */
async function call({ policy, renderer }: Designer, asked: { readonly prompts: readonly Prompt[]; readonly sampling: Sampling; readonly seedOf: (i: number) => number }): Promise<Call[]> {
  const { prompts, sampling, seedOf } = asked;
  const samples = await policy.sample(prompts.map((prompt, i) => ({ prompt, sampling: roomFor(sampling, promptTokens(prompt), policy.contextLength), seed: seedOf(i) })));
  return prompts.map((prompt, i) => {
    const sample = samples[i];
    invariant(sample !== undefined, "a policy returns one sample per request");
    return { response: renderer.text(saidIn(sample)), trajectory: designerRow(prompt, sample), tokens: sampledCount(sample) };
  });
}

function tokensOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { tokens }) => sum + tokens, 0);
}

/** Runs the gates on candidates, in order; `archive` is what gate `novelty` compares them with. */
export async function judge(iteration: number, { drafts, archive }: { readonly drafts: readonly Draft[]; readonly archive: readonly ArchivedProgram[] }, deps: DesignDependencies): Promise<Design[]> {
  const report = stageReporter(deps, iteration, "gates");
  report({ done: 0, total: drafts.length });
  const admissions = await admitAll(
    drafts.map((draft) => ({ id: draft.id, text: draft.response, extraction: draft.extraction, document: draft.task.documentText })),
    {
      sandbox: deps.sandbox,
      config: deps.gates,
      archive,
      seed: deps.config.run.seed,
      clock: deps.clock,
      ...(deps.auditor === undefined ? {} : { auditor: deps.auditor }),
      onDone: (done) => report({ done, total: drafts.length }),
    },
  );
  return drafts.map((draft, i) => {
    const admission = admissions[i];
    invariant(admission !== undefined, "the gates judge every candidate");
    return { ...draft, admission };
  });
}

/** Writes one hint per admitted design in a separate call that sees the source, and judges it. */
export async function writeHints(iteration: number, designs: readonly Design[], deps: DesignDependencies): Promise<HintCall[]> {
  const { config, hinter = deps.designer } = deps;
  const { renderer, prompts: { hint } } = hinter;
  const report = stageReporter(deps, iteration, "hints");
  const calls = await call(hinter, {
    prompts: designs.map((design) => renderer.prompt(hint(sourceOf(design)))),
    sampling: config.design.hintSampling,
    seedOf: (i) => deriveSeed(config.run.seed, iteration, designs[i]?.id ?? "", "hint"),
  });
  report({ done: designs.length, total: designs.length, tokens: tokensOf(calls) });
  return Promise.all(
    designs.map(async (design, i): Promise<HintCall> => {
      const made = calls[i];
      invariant(made !== undefined, "a policy returns one sample per request");
      const text = spokenPart(made.response).trim();
      return { designId: design.id, text, trajectory: made.trajectory, verdict: await judgeDesignHint(text, design, deps) };
    }),
  );
}

function judgeDesignHint(text: string, { id, admission: { program, solutions } }: Design, { gates, sandbox, clock, config }: DesignDependencies): Promise<HintVerdict> {
  invariant(program !== undefined, "an admitted design has a program");
  return judgeHint(text, { sandbox, config: gates, program, solutions, seed: deriveSeed(config.run.seed, id, "hint-play"), clock });
}

/** The environments of the admitted designs, with the hints that passed. */
export function admittedEnvironments(designs: readonly Design[], hints: readonly HintCall[]): AdmittedDesign[] {
  const usable = new Map(hints.filter((hint) => hint.verdict.verdict === "pass").map((hint) => [hint.designId, hint.text]));
  return designs.filter(isAdmitted).map((design) => {
    const { program, facts, trivialWinRate, maxTurns } = design.admission;
    invariant(program !== undefined && facts !== undefined, "an admitted design has a program and its facts");
    const hint = usable.get(design.id);
    const { skill, documentId } = design.task;
    return { environment: { id: design.id, program, skill, documentId, trivialWinRate, maxTurns, ...(hint === undefined ? {} : { hint }) }, facts, programTokens: design.tokens };
  });
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
