import type { ActionForm } from "../core/environment.ts";
import { boxedAction } from "./boxed.ts";
import { asToolCallBlocks, type ToolCallFormat } from "./tool-calls.ts";

/**
 * The action in a response, in the form its environment takes. Tool-use programs take the whole response: they find calls and
 * answers themselves and report what they could not read. Absent when a boxed game's response has no complete box outside
 * its thoughts.
 */
export function actionIn(response: string, form: ActionForm): string | undefined {
  return form === "tools" ? response : boxedAction(spokenPart(response));
}

/** `actionIn` for a model that writes its tool calls in the given format. */
export function actionReader(format: ToolCallFormat): typeof actionIn {
  return (response, form) => actionIn(format === "llama3" && form === "tools" ? asToolCallBlocks(response) : response, form);
}

/** What follows the last think block; nothing when that block was never closed. The template may have opened it in the prompt. */
export function spokenPart(response: string): string {
  const end = response.lastIndexOf("</think>");
  const said = end < 0 ? response : response.slice(end + "</think>".length);
  const open = said.indexOf("<think>");
  return open < 0 ? said : said.slice(0, open);
}
