import { canonicalJson, sha256 } from "../core/digest.ts";
import { SpadeError } from "../core/errors.ts";
import type { Policy, Sample, SampleRequest } from "./policy.ts";

/** Samples by the digest of the request that they answered. */
export type Recording = Map<string, Sample>;

/** A policy that answers as another one and notes every sample in `recording`, which it mutates. */
export function recordingPolicy(policy: Policy, recording: Recording): Policy {
  return {
    contextLength: policy.contextLength,
    sample: async (requests) => {
      const samples = await policy.sample(requests);
      requests.forEach((request, i) => {
        const sample = samples[i];
        if (sample !== undefined) recording.set(requestDigest(request), sample);
      });
      return samples;
    },
  };
}

/** A policy that repeats recorded samples, for replay. @throws `policy.unrecorded` when a request was never made. */
export function recordedPolicy(recording: Recording, contextLength: number): Policy {
  return {
    contextLength,
    sample: (requests) =>
      new Promise((resolve) => {
        resolve(requests.map((request) => recording.get(requestDigest(request)) ?? unrecorded(request)));
      }),
  };
}

function requestDigest({ prompt, sampling, seed }: SampleRequest): string {
  return sha256(canonicalJson({ prompt: [...prompt], sampling, seed }));
}

function unrecorded(request: SampleRequest): never {
  throw new SpadeError("policy.unrecorded", `No recorded sample answers a prompt of ${request.prompt.length} tokens with seed ${request.seed}. Replay with the options of the recording, or record again.`);
}
