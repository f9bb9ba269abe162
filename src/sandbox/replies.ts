import type { ParseReport } from "../core/episode.ts";
import type { Outcome } from "./messages.ts";
import type { About, GuestFailure, GuestFailureCode, GuestResult, ProgramFacts, ResetValue, StepValue } from "./sandbox.ts";

type Fields = Readonly<Record<string, unknown>>;

const codes: ReadonlySet<string> = new Set<GuestFailureCode>(["parse", "raise", "timeout", "fuel", "episode-timeout", "episode-fuel", "memory", "output", "exit", "protocol", "denied"]);

/** Reads a value out of a guest's reply; undefined when the reply is not of the expected shape. */
export type Read<T> = (value: unknown) => T | undefined;

/**
 * The result of one guest call. A guest may have taken over its own driver, so nothing in a reply is believed: what does
 * not have the expected shape is a `protocol` failure.
 */
export function readOutcome<T>(outcome: Outcome, read: Read<T>): GuestResult<T> {
  if ("trap" in outcome) return failed(outcome.trap);
  const reply = parseObject(outcome.reply);
  if (reply?.["ok"] === false) return failed(reply["failure"]);
  const value = reply?.["ok"] === true ? read(reply["value"]) : undefined;
  return value === undefined ? failed({ code: "protocol", message: "the interpreter's reply has an unexpected shape" }) : { ok: true, value };
}

/** The result, or `output` where its observation has more characters than are allowed: the guest's own check can be deceived. */
export function withinLimit<T>(result: GuestResult<T>, maxObservationChars: number): GuestResult<T> {
  const observation = result.ok && isFields(result.value) ? result.value["observation"] : undefined;
  if (typeof observation !== "string" || observation.length <= maxObservationChars) return result;
  // Python counts code points, of which a string may have half as many as it has units.
  const length = observation.length > 2 * maxObservationChars ? observation.length : Array.from(observation).length;
  return length <= maxObservationChars ? result : failed({ code: "output", message: `the observation has ${length} characters; at most ${maxObservationChars} are allowed` });
}

/** A failure result. */
export function failed(failure: unknown): { readonly ok: false; readonly failure: GuestFailure } {
  const { code, message } = isFields(failure) ? failure : {};
  const known = typeof code === "string" && codes.has(code);
  return {
    ok: false,
    failure: { code: known ? (code as GuestFailureCode) : "protocol", message: typeof message === "string" ? message.slice(0, 500).toWellFormed() : "" },
  };
}

export const readReset: Read<ResetValue> = (value) => {
  const observation = isFields(value) ? value["observation"] : undefined;
  return typeof observation === "string" ? { observation: observation.toWellFormed() } : undefined;
};

export const readStep: Read<StepValue> = (value) => {
  if (!isFields(value)) return undefined;
  const { observation, reward, terminated, truncated } = value;
  const warnings = readStrings(value["warnings"]);
  if (typeof observation !== "string" || typeof reward !== "number" || !(Math.abs(reward) <= 10)) return undefined;
  if (typeof terminated !== "boolean" || typeof truncated !== "boolean" || warnings === undefined) return undefined;
  const step = { observation: observation.toWellFormed(), reward, terminated, truncated, warnings };
  if (value["parse"] === undefined) return step;
  const parse = readParseReport(value["parse"]);
  return parse === undefined ? undefined : { ...step, parse };
};

/** Entries of each kind that a parse report may have, and characters of one: what the guests cut it to. */
const maxReportEntries = 20;
const maxReportChars = 300;

const readParseReport: Read<ParseReport> = (value) => {
  const [warnings, errors] = isFields(value) ? [readStrings(value["warnings"]), readStrings(value["errors"])] : [];
  const isBounded = (texts: readonly string[]): boolean => texts.length <= maxReportEntries && texts.every((text) => text.length <= 2 * maxReportChars);
  return warnings !== undefined && errors !== undefined && isBounded(warnings) && isBounded(errors) ? { warnings, errors } : undefined;
};

export const readStrings: Read<readonly string[]> = (value) =>
  Array.isArray(value) && value.every((item) => typeof item === "string") ? value.map((item) => item.toWellFormed()) : undefined;

export const readAbout: Read<About> = (value) => {
  if (!isFields(value)) return undefined;
  const { hint, tools } = value;
  if (hint !== undefined && typeof hint !== "string") return undefined;
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isFields))) return undefined;
  return { ...(hint === undefined ? {} : { hint: hint.toWellFormed() }), ...(tools === undefined ? {} : { tools }) };
};

/** State of a fork without the slot, which the parent knows; an empty object when it was too large. */
export const readForkState: Read<{ readonly image?: string; readonly bytes?: string }> = (value) => {
  if (!isFields(value)) return undefined;
  const { image, state } = value;
  return typeof image === "string" && typeof state === "string" ? { image, bytes: state } : {};
};

export const readFacts: Read<ProgramFacts> = (value) => {
  if (!isFields(value)) return undefined;
  const { entry, hasSolution, actionForm, maxTurns, skeleton, shingles, stateVariables } = value;
  const strings = readStrings(value["strings"]);
  if (typeof entry !== "string" || typeof skeleton !== "string" || typeof hasSolution !== "boolean") return undefined;
  if (actionForm !== "boxed" && actionForm !== "tools") return undefined;
  if (typeof stateVariables !== "number" || strings === undefined || !isNumbers(shingles)) return undefined;
  const facts: ProgramFacts = { entry, hasSolution, actionForm, skeleton, shingles, strings, stateVariables };
  return typeof maxTurns === "number" ? { ...facts, maxTurns } : facts;
};

function parseObject(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => typeof item === "number");
}
