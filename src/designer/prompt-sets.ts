import { fullPrompts } from "./full-prompts.ts";
import { compactPrompts, type Prompts } from "./prompts.ts";

/** The sets of prompts, by the name that the configuration knows them by (`prompts`). */
export const promptSets: Readonly<Record<"compact" | "full", Prompts>> = { compact: compactPrompts, full: fullPrompts };
