import { SpadeError } from "../../core/errors.ts";
import { Gate } from "../../http/gate.ts";
import { failureOf } from "./failures.ts";
import { Sampler } from "./sampler.ts";
import type { Session } from "./session.ts";
import { protocolError } from "./wire.ts";

/** A known text in the ids of the configured tokenizer. */
export interface Probe {
  /** Shape [T]; the last is the highest id that the tokenizer has, so that a smaller vocabulary is found out. */
  readonly tokens: Int32Array;
  readonly vocabularySize: number;
}

/** Nats per token beyond those of chance at which a text is written in another vocabulary's ids. */
const margin = 0.5;
/** Share of chance's nats per token that plain English stays below in a trained model's own vocabulary. */
const readable = 0.75;

/**
 * Asks the base model how likely it finds the probe, before anything is sampled. The protocol names no tokenizer, so the model's own
 * opinion is the fingerprint: text in another vocabulary's ids is no likelier than chance. What cannot be told is said, not refused.
 * @throws SpadeError policy.tokenizer
 */
export async function checkTokenizer(session: Session, baseModel: string, { tokens, vocabularySize }: Probe): Promise<void> {
  const { notice } = session.connection;
  const logprobs = await score(session, baseModel, tokens);
  if (typeof logprobs === "string") return notice(`The tokenizer could not be compared with the served model's: ${logprobs}.`);
  const remedy = "Set policy.tokenizer to the directory of the served model's tokenizer.";
  const unknown = logprobs.findIndex((value) => !Number.isFinite(value));
  if (unknown >= 0) throw new SpadeError("policy.tokenizer", `The served model ${baseModel} does not know all of the tokenizer's ids 0 to ${vocabularySize - 1}: it gives token ${tokens[unknown + 1] ?? NaN} the log-probability ${logprobs[unknown] ?? NaN}. ${remedy}`);
  const text = logprobs.subarray(0, -1);
  const [nats, chance] = [-text.reduce((sum, value) => sum + value, 0) / text.length, Math.log(vocabularySize)];
  const figures = `${nats.toFixed(2)} nats per token of plain English, ${chance.toFixed(2)} is chance`;
  if (nats > chance + margin) throw new SpadeError("policy.tokenizer", `The tokenizer is not the served model's: ${baseModel} finds text in its ids less likely than chance (${figures}). ${remedy}`);
  if (nats > readable * chance) notice(`The served model finds text in the tokenizer's ids no likelier than chance (${figures}): it is untrained, or the tokenizer is another model's.`);
}

/** Log-probabilities [T - 1] of all tokens but the first, or why there are none. */
async function score(session: Session, baseModel: string, tokens: Int32Array): Promise<Float32Array | string> {
  const what = "Comparing the tokenizer";
  try {
    const answer = await session.connection.call("/api/v1/create_sampling_session", { session_id: session.id, sampling_session_seq_id: session.nextSampler(), base_model: baseModel, type: "create_sampling_session" }, { what });
    if (typeof answer["sampling_session_id"] !== "string") throw protocolError("create_sampling_session gave no sampling_session_id", answer);
    const logprobs = await new Sampler(session.connection, answer["sampling_session_id"], new Gate(1)).score(tokens);
    return logprobs ?? "the server gives no log-probabilities of prompts";
  } catch (error) {
    const { status = 0 } = failureOf(error) ?? {};
    const unoffered = error instanceof SpadeError && (error.code === "policy.operation" || error.code === "policy.protocol" || [400, 404, 405, 422, 501].includes(status));
    if (!unoffered) throw error;
    return error.message;
  }
}
