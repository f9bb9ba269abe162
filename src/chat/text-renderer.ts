import type { ChatMessage } from "../core/chat.ts";
import { spokenPart } from "./action.ts";
import type { AnyRendered, AnyRenderer, Observation, Opening } from "./renderer.ts";

/** A conversation with a policy that takes and gives text only. */
export interface TextRendered extends AnyRendered {
  readonly messages: readonly ChatMessage[];
  reply(said: string, told: readonly Observation[]): TextRendered;
}

/** A renderer for policies behind endpoints that render chats themselves. */
export interface TextRenderer extends AnyRenderer {
  begin(opening: Opening): TextRendered;
  prompt(opening: Opening): readonly ChatMessage[];
  text(said: string): string;
}

/**
 * Hands chats over as they are. Thoughts are left out of what is sent back, as chat templates of thinking models do. Results of tools
 * are told as a user's messages: the calls are text of our own programs, and endpoints take the role `tool` only as an answer to calls of theirs.
 */
export const textRenderer: TextRenderer = {
  begin: (opening) => at(messagesOf(opening)),
  prompt: messagesOf,
  text: (said) => said,
};

function messagesOf({ system, user }: Opening): readonly ChatMessage[] {
  const messages: readonly ChatMessage[] = [{ role: "system", content: system }, { role: "user", content: user }];
  return messages.filter(({ role, content }) => role === "user" || content !== "");
}

function at(messages: readonly ChatMessage[]): TextRendered {
  return {
    messages,
    reply: (said, told) => at([...messages, { role: "assistant", content: spokenPart(said).trim() }, { role: "user", content: told.map(({ content }) => content).join("\n") }]),
  };
}
