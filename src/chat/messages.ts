import type { ToolSchema } from "./renderer.ts";

/** A message as chat templates take it. */
export interface Message {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string;
  /** Of messages that were not sampled: what was sampled keeps its calls in `content`, as it wrote them. */
  readonly tool_calls?: readonly { readonly type: "function"; readonly function: { readonly name: string; readonly arguments: object } }[];
}

/** What a template is given besides the messages. */
export interface RenderOptions {
  /** End where the assistant begins to speak. */
  readonly addGenerationPrompt: boolean;
  readonly tools?: readonly ToolSchema[];
  /** Variables of the template, for example `enable_thinking`. */
  readonly variables?: Readonly<Record<string, unknown>>;
}
