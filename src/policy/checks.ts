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

/**
 * Refuses a continuation that is not exact.
 * @throws SpadeError policy.protocol, policy.tokenizer, policy.nonFinite
 */
export function checkSampled({ tokens, logprobs }: { readonly tokens: Int32Array; readonly logprobs?: Float32Array }, limits: { readonly maxTokens: number; readonly vocabularySize: number }): { readonly tokens: Int32Array; readonly logprobs: Float32Array } {
  const protocol = (what: string): SpadeError => new SpadeError("policy.protocol", `The server sent what it should not: ${what}. Compare the version of the server with what docs/engines.md names.`);
  if (logprobs?.length !== tokens.length) throw protocol(`a sample has ${tokens.length} tokens and ${logprobs?.length ?? "no"} log-probabilities`);
  if (tokens.length === 0 || tokens.length > limits.maxTokens) throw protocol(`a sample has ${tokens.length} tokens, expected 1 to ${limits.maxTokens}`);
  const foreign = tokens.find((token) => token < 0 || token >= limits.vocabularySize);
  if (foreign !== undefined) throw new SpadeError("policy.tokenizer", `The server sampled token ${foreign}, but the tokenizer knows ids 0 to ${limits.vocabularySize - 1} only: it is not the served model's. Set policy.tokenizer to the directory of the served model's tokenizer.`);
  const bad = logprobs.find((value) => !Number.isFinite(value));
  if (bad !== undefined) throw new SpadeError("policy.nonFinite", `The server sampled a token with log-probability ${bad}, expected finite numbers. Look for a fault of the server: its weights or its precision.`);
  return { tokens, logprobs };
}
