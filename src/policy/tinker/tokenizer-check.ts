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
  const remedy = "Set policy.tokenizer to the directory of the served model's tokenizer.";
  const refuse = (what: string): never => {
    throw new SpadeError("policy.tokenizer", `The tokenizer is not the served model's: ${baseModel} ${what}. ${remedy}`);
  };
  const text = await score(session, baseModel, tokens.subarray(0, -1));
  if (typeof text === "string") {
    notice(`The tokenizer could not be compared with the served model's: ${text}`);
    return;
  }
  const [nats, chance] = [-text.reduce((sum, value) => sum + value, 0) / text.length, Math.log(vocabularySize)];
  const figures = `${nats.toFixed(2)} nats per token of plain English, ${chance.toFixed(2)} is chance`;
  if (!(nats <= chance + margin)) refuse(`finds text in its ids less likely than chance (${figures})`);
  // The text is known to be fine, so whatever goes wrong now is the last id's doing: servers answer with NaN or an error.
  const whole = await score(session, baseModel, tokens);
  const last = typeof whole === "string" ? whole : whole.at(-1);
  if (!Number.isFinite(last)) refuse(`does not know all of its ids 0 to ${vocabularySize - 1}. For the last it gives: ${String(last)}`);
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
    const unoffered = error instanceof SpadeError && (error.code === "policy.operation" || error.code === "policy.protocol" || [400, 404, 405, 422, 500, 501].includes(status));
    if (!unoffered) throw error;
    return error.message;
  }
}
