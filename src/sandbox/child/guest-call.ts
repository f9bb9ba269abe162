import type { ChildLimits, Item, Outcome, Request } from "../messages.ts";
import { type CallBudget, GuestStop } from "./gate.ts";

/** What the servers of both languages do around a guest call. */

/** The half of an import gate that counts what a call uses. */
interface Meter {
  begin(budget: CallBudget): void;
  fuelUsed(budget: CallBudget): number;
}

/** Makes the calls of a request, up to a trap, the end of its slice, or an answer that grew too long. */
export function runSlice(
  { items, sliceMs }: Request & { readonly kind: "run" },
  { limits, onProgress }: { readonly limits: ChildLimits; readonly onProgress: (index: number) => void },
  runItem: (item: Item) => Outcome,
): Outcome[] {
  const outcomes: Outcome[] = [];
  const end = performance.now() + sliceMs;
  let bytes = 0;
  for (const [index, item] of items.entries()) {
    // The parent has written 0 before it asked.
    if (index > 0) onProgress(index);
    const outcome = runItem(item);
    outcomes.push(outcome);
    if ("trap" in outcome) break;
    bytes += outcome.reply.length;
    if (bytes > limits.maxOutputBytes || performance.now() > end) break;
  }
  return outcomes;
}

/** One guest call under its budget, and what it cost. */
export function metered({ meter, limits }: { readonly meter: Meter; readonly limits: ChildLimits }, item: Pick<Item, "ordinal" | "fuel" | "wallMs">, call: () => Outcome): Outcome {
  const start = performance.now();
  const budget = { fuel: item.fuel ?? limits.fuelPerCall, deadlineMs: start + (item.wallMs ?? limits.wallMsPerCall), ordinal: item.ordinal };
  meter.begin(budget);
  const end = call();
  return { ...end, fuel: meter.fuelUsed(budget), wallMs: performance.now() - start };
}

/** A fork's state as the parent keeps it; without it when it is larger than it may be. */
export function forkReply(image: string, state: Buffer, { maxForkBytes }: ChildLimits): Outcome {
  return { reply: JSON.stringify({ ok: true, value: state.length > maxForkBytes ? {} : { image, state: state.toString("base64") } }) };
}

/** The end of a restore that is refused: the parent replays seed and actions instead. */
export function refusal(error: unknown): Outcome {
  return { trap: { code: "protocol", message: error instanceof Error ? error.message : "unknown" } };
}

/** The end of a call whose answer is longer than it may be. */
export function tooLong({ maxOutputBytes }: ChildLimits): Outcome {
  return { trap: { code: "output", message: `the answer is longer than ${maxOutputBytes} bytes` } };
}

/** What ended a call from outside, or the interpreter's own end; `stackMessage` says how the language names an exhausted stack. */
export function trapOf(error: unknown, stackMessage: string): { readonly code: string; readonly message: string } {
  if (error instanceof GuestStop) return { code: error.code, message: error.message };
  if (error instanceof RangeError) return { code: "raise", message: stackMessage };
  return { code: "raise", message: `the interpreter trapped: ${error instanceof Error ? error.message : "unknown"}`.slice(0, 300) };
}
