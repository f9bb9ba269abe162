import { messageOf } from "../core/errors.ts";
import type { Observation, Opening } from "./renderer.ts";
import type { ChatModel } from "./template-renderer.ts";

/** What a short chat with a model came to. */
export interface ProbedChat {
  readonly name: "plain" | "thinking" | "tools";
  /** Text of the prompt of its first turn. */
  readonly prompt: string;
  /** `extends`: all turns are one row. `rewrites`: a row for every turn whose history the template changed. `refused`: not rendered. */
  readonly history: "extends" | "rewrites" | "refused";
  /** Why it was not rendered. */
  readonly reason?: string;
}

const thought = "<think>\nThe door is north.\n</think>\n\n";
const call = '<tool_call>\n{"name": "look", "arguments": {"at": "door"}}\n</tool_call>';
const look = { type: "function", function: { name: "look", description: "Looks at a thing", parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] } } };
const opening: Opening = { system: "You act.", user: "You see a door." };
const wall: Observation = { role: "user", content: "You see a wall." };

/** Renders three turns of short chats, to see which of them stay one row. */
export function probeChats(model: ChatModel): readonly ProbedChat[] {
  return [
    probe(model, "plain", { opening, reply: "\\boxed{north}", told: [wall] }),
    probe(model, "thinking", { opening, reply: `${thought}\\boxed{north}`, told: [wall] }),
    probe(model, "tools", { opening: { ...opening, tools: [look] }, reply: call, told: [{ role: "tool", content: "It is open." }, { role: "tool", content: "It is red." }] }),
  ];
}

/** A reply as it would be sampled: the text's canonical tokens and the first stop token. */
export function replyTokens({ tokenizer, stopTokens }: Pick<ChatModel, "tokenizer" | "stopTokens">, text: string): Int32Array {
  return Int32Array.from([...tokenizer.encode(text), ...stopTokens.slice(0, 1)]);
}

function probe(model: ChatModel, name: ProbedChat["name"], chat: { readonly opening: Opening; readonly reply: string; readonly told: readonly Observation[] }): ProbedChat {
  let prompt = "";
  try {
    const first = model.renderer.begin(chat.opening);
    prompt = model.tokenizer.decode(first.segment.tokens);
    const reply = replyTokens(model, chat.reply);
    const second = first.reply(reply, chat.told);
    const third = second.reply(reply, chat.told);
    const isExtended = [second, third].every(({ segment }) => segment.kind === "observation");
    return { name, prompt, history: isExtended ? "extends" : "rewrites" };
  } catch (error) {
    return { name, prompt, history: "refused", reason: messageOf(error) };
  }
}
