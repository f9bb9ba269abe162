import type { ActionForm } from "../core/environment.ts";
import { boxedAction } from "./boxed.ts";

/**
 * The action in a response, in the form its environment takes. Tool-use programs take the whole response: they find calls and
 * answer themselves and report what they could not read. Absent when a boxed game's response has no complete box.
 */
export function actionIn(response: string, form: ActionForm): string | undefined {
  return form === "tools" ? response : boxedAction(response);
}
