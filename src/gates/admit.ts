import { type Clock, monotonicClock } from "../core/clock.ts";
import type { Extraction, Program } from "../core/environment.ts";
import { messageOf, SpadeError } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import type { ProgramFacts, ProgramHandle, Sandbox } from "../sandbox/sandbox.ts";
import { audit, type Auditor } from "./audit.ts";
import { determinism, grounded, resources, robustness, shape } from "./behaviour.ts";
import { type GateId, gateIds, type GatesConfig } from "./config.ts";
import { type GateContext, gateContext } from "./context.ts";
import { notTrivial, preSatisfied, solvable, variety } from "./goal.ts";
import { leak } from "./leak.ts";
import { necessary } from "./necessary.ts";
import { type ArchivedProgram, type Fingerprint, fingerprintOf, novelty } from "./novelty.ts";
import { overLanes } from "./over-lanes.ts";
import { closeQuietly, shorten } from "./probe.ts";
import { type AdmissionRecord, type Evidence, type GateResult, Rejection } from "./record.ts";
import { toolUse } from "./tool-use.ts";

/** A designer's reply and what was extracted from it. */
export interface Candidate {
  /** Names the candidate's seeds: unique in the run. */
  readonly id: string;
  readonly text: string;
  readonly extraction: Extraction;
  /** Text of the grounding document. */
  readonly document: string;
}

export interface AdmitOptions {
  readonly sandbox: Sandbox;
  readonly config: GatesConfig;
  /** Run seed; the gates' choices are derived from it and the candidate's id. */
  readonly seed: number;
  /** Earlier programs, for gate `novelty`. Default: none. */
  readonly archive?: readonly ArchivedProgram[];
  /** Needed when gate `audit` is on. */
  readonly auditor?: Auditor;
  /** Measures `wallMsPerGate`. Default: the monotonic clock. */
  readonly clock?: Clock;
}

/** What is known of a candidate when the gates are through. */
export interface Admission {
  readonly record: AdmissionRecord;
  /** The program that was judged, after repair; absent when none was found. */
  readonly program?: Program;
  /** Absent when the program did not load. */
  readonly facts?: ProgramFacts;
  /** Turn limit of episodes; the run's when the program declares none. */
  readonly maxTurns: number;
  /** Win rate of the best trivial policy; 0 when the gate did not get that far. */
  readonly trivialWinRate: number;
  /** First observations and solutions on the probe seeds; empty unless admitted. */
  readonly observations: readonly string[];
  readonly solutions: readonly (readonly string[])[];
  /** What later programs are compared with; present when it was admitted and gate `novelty` is on. */
  readonly fingerprint?: Fingerprint;
}

type Gate = (context: GateContext) => Promise<Evidence>;

const loadedGates: Readonly<Record<Exclude<GateId, "extract" | "parse" | "load">, Gate>> = {
  grounded,
  shape,
  robustness,
  resources,
  determinism,
  variety,
  "pre-satisfied": preSatisfied,
  solvable,
  "tool-use": toolUse,
  necessary,
  "not-trivial": notTrivial,
  leak,
  novelty,
  audit,
};

/**
 * Runs the gates on a candidate, in order, up to the first that rejects. Fails closed: a gate that cannot finish,
 * whatever the reason, rejects. Equal candidates, seeds and configurations give equal admissions.
 * @throws SpadeError gate.noAuditor when the audit is on and there is nobody to do it
 */
export async function admit(candidate: Candidate, options: AdmitOptions & { readonly lane?: number }): Promise<Admission> {
  const { config, sandbox, archive = [], auditor, clock = monotonicClock } = options;
  if (config.audit.enabled && auditor === undefined) throw new SpadeError("gate.noAuditor", "Gate audit is on, but no auditor was given. Set gates.audit.enabled to false, or pass an auditor to admit().");
  const results: GateResult[] = [];
  const opened = await openCandidate(candidate, options, results);
  const base = { maxTurns: config.maxTurns, trivialWinRate: 0, observations: [], solutions: [] };
  if (opened.handle === undefined) return { ...base, record: recordOf(candidate, results, config), ...(opened.program === undefined ? {} : { program: opened.program }) };
  const { program, handle } = opened;
  try {
    const seed = deriveSeed(options.seed, "gates", candidate.id);
    const context = gateContext({ config, sandbox, program, handle, document: candidate.document, archive, seed, clock, ...(auditor === undefined ? {} : { auditor }) });
    for (const id of gateIds) {
      if (id === "extract" || id === "parse" || id === "load" || results.at(-1)?.verdict === "reject") continue;
      context.startGate();
      results.push(config[id].enabled ? await runGate(id, () => loadedGates[id](context)) : { id, verdict: "off", code: "off", message: "Switched off.", evidence: {} });
    }
    const record = recordOf(candidate, results, config);
    const trivialWinRate = results.find(({ id }) => id === "not-trivial")?.evidence["trivialWinRate"];
    const known = record.verdict === "admitted" ? await lookAgain(context) : {};
    return { ...base, ...known, record, program, facts: handle.facts, maxTurns: context.maxTurns, trivialWinRate: typeof trivialWinRate === "number" ? trivialWinRate : 0 };
  } finally {
    await closeQuietly(handle);
  }
}

/** Admits several candidates, one at a time per lane; results in order and independent of the number of lanes. */
export async function admitAll(candidates: readonly Candidate[], options: AdmitOptions & { readonly onDone?: (done: number) => void }): Promise<Admission[]> {
  let done = 0;
  return overLanes(options.sandbox.lanes, candidates, async (candidate, lane) => {
    const admission = await admit(candidate, { ...options, lane });
    options.onDone?.(++done);
    return admission;
  });
}

interface Opened {
  readonly program?: Program;
  readonly handle?: ProgramHandle;
}

/** Gates 1 to 3: finds the program, tries its repairs while it does not parse, loads it. */
async function openCandidate({ extraction }: Candidate, options: AdmitOptions & { readonly lane?: number }, results: GateResult[]): Promise<{ program: Program; handle: ProgramHandle } | (Opened & { handle?: undefined })> {
  if (!extraction.ok) {
    results.push({ id: "extract", verdict: "reject", code: extraction.code, message: extraction.message, evidence: {} });
    return {};
  }
  results.push(passed("extract", {}));
  const attempts = [{ name: "as written", program: extraction.program }, ...extraction.repairs];
  let last = attempts[0] ?? { name: "as written", program: extraction.program };
  let failure = { code: "parse", message: "" };
  for (const attempt of attempts) {
    last = attempt;
    const opened = await openGuarded(attempt.program, options);
    if (opened.ok) {
      results.push(passed("parse", { repair: attempt.name }), passed("load", { entry: opened.value.facts.entry }));
      return { program: attempt.program, handle: opened.value };
    }
    failure = opened.failure;
    if (failure.code !== "parse") break;
  }
  const evidence = { repairsTried: extraction.repairs.map(({ name }) => name) };
  if (failure.code !== "parse") results.push(passed("parse", { repair: last.name }));
  results.push({ id: failure.code === "parse" ? "parse" : "load", verdict: "reject", code: failure.code, message: shorten(failure.message), evidence });
  return { program: last.program };
}

type OpenResult = { readonly ok: true; readonly value: ProgramHandle } | { readonly ok: false; readonly failure: { readonly code: string; readonly message: string } };

async function openGuarded(program: Program, { sandbox, lane }: AdmitOptions & { readonly lane?: number }): Promise<OpenResult> {
  try {
    return await sandbox.open(program, lane === undefined ? {} : { lane });
  } catch (error) {
    if (!(error instanceof SpadeError) || error.boundary !== "sandbox") throw error;
    return { ok: false, failure: { code: error.code, message: error.message } };
  }
}

/** The boundary at which a gate's rejection becomes a result. Any other error rejects too; only a broken invariant and a policy that cannot be asked go through. */
async function runGate(id: GateId, gate: () => Promise<Evidence>): Promise<GateResult> {
  try {
    const { notApplicable, ...evidence } = await gate();
    return typeof notApplicable === "string" ? { id, verdict: "not-applicable", code: "not-applicable", message: notApplicable, evidence } : passed(id, evidence);
  } catch (error) {
    if (error instanceof Rejection) return { id, verdict: "reject", code: error.code, message: error.message, evidence: error.evidence };
    if (error instanceof SpadeError && (error.boundary === "internal" || error.boundary === "policy")) throw error;
    const code = error instanceof SpadeError ? error.code : "error";
    return { id, verdict: "reject", code, message: `The gate could not finish: ${shorten(messageOf(error))}`, evidence: {} };
  }
}

function passed(id: GateId, evidence: Evidence): GateResult {
  return { id, verdict: "pass", code: "pass", message: "", evidence };
}

function recordOf({ text }: Candidate, results: readonly GateResult[], { profile }: GatesConfig): AdmissionRecord {
  const gates = gateIds.map((id): GateResult => results.find((result) => result.id === id) ?? { id, verdict: "not-run", code: "not-run", message: "An earlier gate rejected.", evidence: {} });
  return { candidate: text, verdict: gates.some(({ verdict }) => verdict === "reject") ? "rejected" : "admitted", profile, gates };
}

async function lookAgain(context: GateContext): Promise<Pick<Admission, "observations" | "solutions" | "fingerprint">> {
  const solutions = await context.solutions();
  return {
    observations: await context.observations(),
    solutions: solutions.map((result) => (result.ok ? result.value : [])),
    ...(context.config.novelty.enabled ? { fingerprint: await fingerprintOf(context) } : {}),
  };
}
