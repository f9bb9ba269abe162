/** What differs between servers of the Tinker protocol, in one place. Facts from reading the servers' code unless docs/engines.md says they were seen. */
export interface ServerProfile {
  /**
   * How token losses of one optimiser step are reduced. `sum`: over all tokens. `datumMean`: mean over datums of the mean over a datum's
   * positions. `requestMean`: mean over all positions of one request; requests add up.
   */
  readonly reduction: "sum" | "datumMean" | "requestMean";
  /** A repeated POST with the same sequence number is carried out once. Otherwise an update whose fate is unknown stops the run. */
  readonly deduplicates: boolean;
  /** A 400 of retrieve_future is the operation's own failure, not a hiccup. */
  readonly failsBy400: boolean;
  /** optim_step honours grad_clip_norm. */
  readonly clipsGradient: boolean;
  /** Sampling writes the sampled weights over the ones in training: nothing may sample while an update runs, nor the other way round. */
  readonly samplingOverwritesTraining: boolean;
  /** How forward_backward is sent first; the other form is tried when the server refuses this one. */
  readonly encoding: Encoding;
}

export type Encoding = "json" | "protobuf";

/** Names of the known servers, for the configuration. */
export const profileNames = ["hosted", "skyrl-jax", "skyrl-jax-0.3", "skyrl-torch", "tuft", "hatchery"] as const;

export type ProfileName = (typeof profileNames)[number];

const sum: ServerProfile = { reduction: "sum", deduplicates: true, failsBy400: false, clipsGradient: true, samplingOverwritesTraining: false, encoding: "protobuf" };
const skyrl: ServerProfile = { ...sum, failsBy400: true, clipsGradient: false };

/** The known servers. */
export const profiles: Readonly<Record<ProfileName, ServerProfile>> = {
  hosted: sum,
  "skyrl-jax": { ...skyrl, reduction: "datumMean", samplingOverwritesTraining: true },
  /** Ignores sequence numbers and speaks JSON only. */
  "skyrl-jax-0.3": { ...skyrl, reduction: "datumMean", samplingOverwritesTraining: true, deduplicates: false, encoding: "json" },
  "skyrl-torch": skyrl,
  tuft: { ...sum, failsBy400: true },
  hatchery: { ...sum, reduction: "requestMean", deduplicates: false, failsBy400: true, encoding: "json" },
};

/**
 * Factor on a datum's token losses that makes the server's reduction equal Σ weight·loss / Σ weight over the sampled tokens of the step.
 * `positions` are all of the datum, prompt included.
 */
export function lossScale(reduction: ServerProfile["reduction"], of: { readonly weight: number; readonly positions: number; readonly totalWeight: number; readonly datums: number; readonly requestPositions: number }): number {
  const share = of.weight / of.totalWeight;
  switch (reduction) {
    case "sum":
      return share;
    case "datumMean":
      return share * of.positions * of.datums;
    case "requestMean":
      return share * of.requestPositions;
  }
}
