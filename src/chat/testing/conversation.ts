import { append, flatten, rowsOf, type TrainableTrajectory } from "../../core/trajectory.ts";
import { type ModelDirectory, readModelDirectory } from "../model-directory.ts";
import type { Observation, Opening, Rendered } from "../renderer.ts";
import { replyTokens } from "../probe.ts";
import { type ChatModel, type ChatModelOptions, loadChatModel } from "../template-renderer.ts";
import { type TinyModelFamily, writeTinyModel } from "./tiny-model.ts";

/** A model's chat with its template at hand. */
export interface TestChat extends ChatModel, Pick<ModelDirectory, "template"> {
  /** A reply as it would be sampled: its canonical tokens, then the end of the turn. */
  readonly said: (text: string) => Int32Array;
}

/** Writes and loads a tiny model. */
export async function testChat(family: TinyModelFamily, options: Omit<ChatModelOptions, "directory"> & { readonly directory?: string } = {}): Promise<TestChat> {
  const directory = options.directory ?? writeTinyModel(family);
  const model = await loadChatModel({ ...options, directory });
  const { template } = await readModelDirectory(directory, options);
  return { ...model, template, said: (text) => replyTokens(model, text) };
}

/** Plays a conversation: each reply is sampled and then answered. Returns the trajectory and the text of each segment. */
export function converse(chat: TestChat, opening: Opening, exchanges: readonly (readonly [reply: string | Int32Array, ...told: Observation[]])[]): { readonly trajectory: TrainableTrajectory; readonly texts: readonly string[] } {
  let rendered: Rendered = chat.renderer.begin(opening);
  let trajectory: TrainableTrajectory = append({ role: "agent", arm: "plain", segments: [] }, rendered.segment);
  for (const [reply, ...told] of exchanges) {
    const tokens = typeof reply === "string" ? chat.said(reply) : reply;
    trajectory = append(trajectory, { kind: "sampled", tokens, logprobs: new Float32Array(tokens.length), policyVersion: 0 });
    if (told.length === 0) break;
    rendered = rendered.reply(tokens, told);
    trajectory = append(trajectory, rendered.segment);
  }
  return { trajectory, texts: trajectory.segments.map(({ tokens }) => chat.tokenizer.decode(tokens)) };
}

/** Tokens of each row. */
export function rowTokens(trajectory: TrainableTrajectory): number[][] {
  return rowsOf(trajectory).map((row) => [...flatten(row).tokens]);
}
