import type { Prompt, Said } from "../core/chat.ts";
import type { Arm } from "../core/role.ts";
import { append, type Trajectory } from "../core/trajectory.ts";
import type { AnySample } from "./policy.ts";

/** Tokens of a prompt; 0 for a chat, whose tokens only the server knows. */
export function promptTokens(prompt: Prompt): number {
  return prompt instanceof Int32Array ? prompt.length : 0;
}

/** What was said, as the policy's renderer reads it. */
export function saidIn(sample: AnySample): Said {
  return "text" in sample ? sample.text : sample.tokens;
}

/** Tokens that were sampled, as far as they are known. */
export function sampledCount(sample: AnySample): number {
  return "text" in sample ? sample.tokenCount : sample.tokens.length;
}

/** Appends a sample's tokens as they came (invariant 1); a text has none and leaves the trajectory as it is. */
export function withSample<A extends Arm>(trajectory: Trajectory<A>, sample: AnySample): Trajectory<A> {
  if ("text" in sample) return trajectory;
  const { tokens, logprobs, policyVersion } = sample;
  return append(trajectory, { kind: "sampled", tokens, logprobs, policyVersion });
}

/** Appends a prompt's tokens; a chat has none. */
export function withPrompt<A extends Arm>(trajectory: Trajectory<A>, prompt: Prompt): Trajectory<A> {
  return prompt instanceof Int32Array ? append(trajectory, { kind: "prompt", tokens: prompt }) : trajectory;
}
