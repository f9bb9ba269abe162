import { SpadeError } from "../../core/errors.ts";
import { type HttpFailure, httpFailure } from "../../http/failure.ts";
import { failureCode } from "../failure-code.ts";

const resume = "The record is whole up to the last committed iteration: go on with `spade train --resume`.";

/** The policy's own error for a request that failed: what was being done, what happened, what to do. Other errors pass unchanged. */
export function policyError(what: string, error: unknown): unknown {
  const failure = httpFailure(error);
  if (failure === undefined || !(error instanceof SpadeError)) return error;
  const code = failureCode(failure);
  return new SpadeError(code, `${what} failed. ${error.message} ${code === "policy.key" || code === "policy.aborted" ? "" : resume}`.trim(), { details: error.details, cause: error });
}

/** The failure of the request behind a policy error. */
export function failureOf(error: unknown): HttpFailure | undefined {
  return error instanceof SpadeError ? httpFailure(error.cause) : undefined;
}

/** The error after an update whose fate on the server is unknown or half done: the trainer refuses further updates until it loads a checkpoint. */
export function interruptedError(what: string, cause: unknown): SpadeError {
  const reason = cause instanceof SpadeError ? ` (${cause.code}: ${cause.message})` : "";
  return new SpadeError("policy.interrupted", `${what}: an earlier operation on this model ended without a known outcome, so that its weights are no longer known${reason}. ${resume}`, { cause });
}

/** The error for a number that is not finite, raised before the optimiser step. */
export function nonFinite(what: string): SpadeError {
  return new SpadeError("policy.nonFinite", `${what}, expected finite numbers; no optimiser step was made on them. Lower the learning rate, or look for a fault of the server; ${resume}`);
}
