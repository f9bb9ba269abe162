import type { Spent } from "../policy/openai/spending.ts";

/** What each of several endpoints took, a line each. */
export function spentLines(spent: Readonly<Record<string, Spent>>): string[] {
  return Object.entries(spent).map(([what, each]) => spentText(what, each));
}

/** What an endpoint took, in a line. */
export function spentText(what: string, { replies, inputTokens, cachedInputTokens, outputTokens, cost, unmeasured, lost, tooLong }: Spent): string {
  const cached = cachedInputTokens > 0 ? ` (${cachedInputTokens} cached)` : "";
  const doubts = [...(unmeasured > 0 ? [`${unmeasured} replies did not say what they took`] : []), ...(lost > 0 ? [`${lost} attempts ended without a reply and may be charged for too`] : []), ...(tooLong > 0 ? [`${tooLong} chats were longer than the model's context, the tokens asked for included (lower maxTokens, or serve a longer context)`] : [])];
  return `${what}: ${replies} replies, ${inputTokens} tokens in${cached}, ${outputTokens} out${cost === undefined ? "" : `, cost ${cost.toFixed(4)}`}${doubts.length === 0 ? "" : `; ${doubts.join("; ")}`}`;
}
