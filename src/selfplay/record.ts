import type { Checkpoint } from "../storage/checkpoints.ts";
import type { IterationWriter } from "../storage/iteration-writer.ts";
import { type DesignTask, noDocument, programId } from "../core/environment.ts";
import { invariant } from "../core/errors.ts";
import type { UpdateMetrics } from "../policy/policy.ts";
import type { StoredEnvironment, StoredFacts } from "../report/run-rows.ts";
import type { ProgramFacts } from "../sandbox/sandbox.ts";
import type { CreditedRow, PaidDesign } from "./credit.ts";
import { type Design, type HintCall, isAdmitted } from "./design.ts";
import type { ProgramKinds } from "./dependencies.ts";
import type { LoopState } from "./state.ts";

/** A design task whose examples are known by their environments' ids, and whose document by where it came from. */
export interface ArchivedTask extends DesignTask {
  readonly documentSource: Readonly<Record<string, unknown>>;
  readonly exampleIds: readonly string[];
}

/** Appends what the design stage made: documents, tasks, every candidate with its gates, both kinds of designer calls. */
export function recordDesigns(writer: IterationWriter, made: { readonly tasks: readonly ArchivedTask[]; readonly designs: readonly Design[]; readonly hints: readonly HintCall[]; readonly kinds: ProgramKinds }): void {
  const { tasks, designs, hints, kinds } = made;
  const grounded = tasks.filter(({ documentId }) => documentId !== noDocument.id);
  const documents = new Map(grounded.map(({ documentId: id, documentText: text, documentSource: source }) => [id, { id, text, source }]));
  writer.add("documents", ...documents.values());
  writer.add(
    "designTasks",
    ...tasks.map(({ id, skill, documentId, examples, exampleIds }) => ({
      id,
      skill,
      documentId,
      examples: examples.map(({ verdict }, i) => ({ environmentId: exampleIds[i] ?? "", verdict })),
    })),
  );
  const hintOf = new Map(hints.map((hint) => [hint.designId, hint]));
  for (const design of designs) recordDesign(writer, design, hintOf.get(design.id), kinds);
}

function recordDesign(writer: IterationWriter, design: Design, hint: HintCall | undefined, kinds: ProgramKinds): void {
  const { id, task, attempt, response, trajectory, admission } = design;
  const { program, facts } = admission;
  writer.add("environments", {
    id,
    taskId: task.id,
    candidate: attempt,
    skill: task.skill,
    documentId: task.documentId,
    admitted: isAdmitted(design),
    response,
    trivialWinRate: admission.trivialWinRate,
    maxTurns: admission.maxTurns,
    ...(program === undefined ? {} : { language: program.language, source: program.source, programId: programId(program) }),
    ...(facts === undefined ? {} : { facts: { ...storedFacts(facts, design, kinds) } }),
    ...(hint?.verdict.verdict === "pass" ? { hint: hint.text } : {}),
  });
  writer.add(
    "gateResults",
    ...admission.record.gates
      .filter(({ verdict }) => verdict !== "not-run")
      .map((gate, position) => ({ environmentId: id, position, gate: gate.id, passed: gate.verdict !== "reject", code: gate.code, message: gate.message, evidence: gate.evidence })),
  );
  writer.addTrajectory("design", id, trajectory);
  if (hint === undefined) return;
  writer.addTrajectory("hint", id, hint.trajectory);
  if (hint.verdict.verdict === "reject") writer.addEvent("hint-rejected", { designId: id, text: hint.text, code: hint.verdict.code, message: hint.verdict.message, evidence: hint.verdict.evidence });
}

/** What is stored of a design's program besides its source. */
function storedFacts({ entry, skeleton, shingles, stateVariables }: ProgramFacts, design: Design, kinds: ProgramKinds): StoredFacts {
  const novel = kinds.isNovel(skeleton);
  const { fingerprint } = design.admission;
  return {
    entry,
    skeleton,
    stateVariables,
    programTokens: design.tokens,
    family: kinds.family({ skeleton, shingles }),
    ...(novel === undefined ? {} : { novel }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
}

/** The environment of an admitted design, without a hint. */
export function admittedProgram(design: Design, { kinds }: { readonly kinds: ProgramKinds }): Pick<StoredEnvironment, "environment" | "facts"> {
  const { id, task: { skill, documentId }, admission: { program, facts, trivialWinRate, maxTurns } } = design;
  invariant(program !== undefined && facts !== undefined, "an admitted design has a program and its facts");
  return { environment: { id, program, skill, documentId, trivialWinRate, maxTurns }, facts: storedFacts(facts, design, kinds) };
}

/** Appends rewards and advantages of both roles. */
export function recordCredit(writer: IterationWriter, designs: readonly PaidDesign[], rows: readonly CreditedRow[]): void {
  writer.add("rewards", ...designs.map(({ id, reward }) => ({ role: "designer" as const, subjectId: id, reward: reward.reward, components: reward.components })));
  writer.add("advantages", ...rows.map(({ advantage, weight }) => ({ role: advantage.role, subjectId: advantage.id, advantage: advantage.advantage, weight, kept: advantage.kept })));
}

/** Appends the updates, the state the next iteration starts from, and its checkpoint. */
export function recordEnd(writer: IterationWriter, updates: readonly UpdateMetrics[], state: LoopState, checkpoint: Checkpoint): void {
  writer.add("updates", ...updates.map((metrics, position) => ({ position, policyVersion: metrics.policyVersion, metrics: { ...metrics } })));
  writer.add("curriculumStates", { state });
  writer.add("checkpoints", { name: checkpoint.name, policyVersion: checkpoint.policyVersion, digest: checkpoint.digest });
}
