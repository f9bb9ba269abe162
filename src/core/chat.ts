/** A message of a chat, as text. */
export interface ChatMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
}

/** What a policy goes on from: token ids (shape [T]), or the chat itself where the policy takes and gives text only. */
export type Prompt = Int32Array | readonly ChatMessage[];

/** What a policy said: token ids (shape [T], stop token included), or text where it gives no token ids. */
export type Said = Int32Array | string;
