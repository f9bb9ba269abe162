import { SpadeError } from "../core/errors.ts";
import type { SampleRequest, TrainingRow } from "./policy.ts";

/** Refuses what no policy of this project samples. @throws SpadeError policy.contextLength, policy.samplingMismatch (invariant 10) */
export function checkRequest({ prompt, sampling }: SampleRequest, { contextLength, allowSamplingMismatch }: { readonly contextLength: number; readonly allowSamplingMismatch: boolean }): void {
  if (prompt.length >= contextLength) {
    throw new SpadeError("policy.contextLength", `A prompt has ${prompt.length} tokens, expected at most ${contextLength - 1} (the context of ${contextLength} less one token to sample). Shorten the prompt or use a model with a longer context.`);
  }
  if ((sampling.topP !== 1 || sampling.topK !== 0) && !allowSamplingMismatch) {
    throw new SpadeError("policy.samplingMismatch", `Sampling with topP ${sampling.topP} and topK ${sampling.topK} draws from a distribution that the loss does not model. Use topP 1 and topK 0, or set allowSamplingMismatch.`);
  }
}

/** Refuses rows sampled more than `maxPolicyLag` versions before `policyVersion`. @throws SpadeError policy.stale */
export function refuseStale({ trajectory }: TrainingRow, { policyVersion, maxPolicyLag }: { readonly policyVersion: number; readonly maxPolicyLag: number }): void {
  const oldest = policyVersion - maxPolicyLag;
  for (const segment of trajectory.segments) {
    if (segment.kind !== "sampled" || segment.policyVersion >= oldest) continue;
    throw new SpadeError("policy.stale", `A row was sampled by policy version ${segment.policyVersion}, expected ${oldest} or later (version ${policyVersion} less maxPolicyLag ${maxPolicyLag}). Drop the row or raise maxPolicyLag.`);
  }
}
