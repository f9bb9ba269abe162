import type { Rng } from "../core/seed.ts";
import type { Player } from "./probe.ts";
import { isNumber, isWord, textTokens } from "./text.ts";

/** A player of a tool-use program that says what another would say as its answer. */
export function answering(player: Player): Player {
  return (view) => {
    const action = player(view);
    return action === undefined ? undefined : `<answer>${action}</answer>`;
  };
}

/** Calls every tool that the first text declares, once, with values that the text names; then stops. */
export const everyTool: Player = ({ observation, turn, rng }) => {
  if (turn > 0) return undefined;
  const calls = declaredTools(observation).map(({ name, properties }) => {
    const values = Object.entries(properties).map(([key, rule]) => [key, valueFor(rule, observation, rng)]);
    return `<tool_call>${JSON.stringify({ name, arguments: Object.fromEntries(values) as unknown })}</tool_call>`;
  });
  return calls.join("");
};

interface DeclaredTool {
  readonly name: string;
  readonly properties: Readonly<Record<string, unknown>>;
}

/** Tools as the runtime library prints them: one JSON object per line. */
function declaredTools(observation: string): DeclaredTool[] {
  return observation.split("\n").flatMap((line) => {
    if (!line.startsWith("{")) return [];
    try {
      const tool = JSON.parse(line) as { readonly name?: unknown; readonly parameters?: { readonly properties?: DeclaredTool["properties"] } };
      return typeof tool.name === "string" ? [{ name: tool.name, properties: tool.parameters?.properties ?? {} }] : [];
    } catch {
      // A line of a game's own, not a tool.
      return [];
    }
  });
}

function valueFor(rule: unknown, observation: string, rng: Rng): unknown {
  const { type, enum: options } = (typeof rule === "object" && rule !== null ? rule : {}) as { readonly type?: unknown; readonly enum?: unknown };
  if (Array.isArray(options) && options.length > 0) return rng.pick(options as readonly unknown[]);
  const tokens = textTokens(observation);
  const named = tokens.filter(type === "string" ? isWord : isNumber);
  if (type === "boolean") return rng.pick([true, false]);
  if (named.length === 0) return type === "string" ? "" : 0;
  const token = rng.pick(named);
  return type === "string" ? token : Number(token);
}
