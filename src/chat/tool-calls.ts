import type { ParseReport } from "../core/episode.ts";
import { readReply, type ToolCall } from "../sandbox/guest/tools.ts";

/** How a model writes its tool calls: `<tool_call>` blocks (Hermes, Qwen), or JSON objects as the whole reply (Llama 3). */
export type ToolCallFormat = "hermes" | "llama3";

/** The tool calls of a reply in order, and what was repaired or could not be read. */
export interface ToolCalls {
  readonly calls: readonly ToolCall[];
  readonly report: ParseReport;
}

const pythonTag = "<|python_tag|>";
const blockOpening = "<tool_call>";
const blockClosing = "</tool_call>";

/**
 * Reads the tool calls of a reply, with `tools` (OpenAI function schemas) to coerce arguments by. The rules are those of the
 * library that tool-use programs read replies with: think blocks hold no calls, tags and braces inside strings are text,
 * every repair is a warning, every refusal an error.
 */
export function readToolCalls(text: string, options: { readonly format?: ToolCallFormat; readonly tools?: readonly object[] } = {}): ToolCalls {
  const { format = "hermes", tools = [] } = options;
  const { calls, report } = readReply(format === "llama3" ? asToolCallBlocks(text) : text, tools);
  return { calls, report: { warnings: report.warnings, errors: report.errors.map(({ message }) => message) } };
}

/**
 * A Llama 3 reply in the form that tool-use programs read: JSON objects, alone or after `<|python_tag|>` and separated by
 * semicolons, in a `<tool_call>` block. A reply of any other form is returned as it is.
 */
export function asToolCallBlocks(text: string): string {
  const [before, tagged] = split(text);
  if (text.includes(blockOpening) || !/^\s*[{[]/.test(tagged ?? before)) return text;
  // A cut-off object stays without its closing tag, so that it is reported as cut off and not as something else.
  const body = (tagged ?? before).trim();
  const block = `${blockOpening}${body}${/[}\]]$/.test(body) ? blockClosing : ""}`;
  return tagged === undefined ? block : `${before}${block}`;
}

function split(text: string): [before: string, tagged: string | undefined] {
  const at = text.lastIndexOf(pythonTag);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + pythonTag.length)];
}
