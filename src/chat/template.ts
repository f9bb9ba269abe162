import { messageOf, SpadeError } from "../core/errors.ts";
import { jinja } from "./hugging-face.ts";
import type { Message, RenderOptions } from "./messages.ts";

/** A chat template: messages to text. Equal arguments give equal text. */
export type ChatTemplate = (messages: readonly Message[], options: RenderOptions) => string;

/** The date that templates are told it is; a fixed one, so that a prompt is the same whenever it is rendered. */
const today = new Date(Date.UTC(2024, 6, 26));

/**
 * Compiles a Jinja chat template, with the globals that Hugging Face gives to one; `globals` adds the special tokens by
 * name (`bos_token`). `path` names the template in errors.
 * @throws chat.template when it cannot be read or, at a call, cannot be rendered
 */
export function compileTemplate(source: string, { path, globals }: { readonly path: string; readonly globals: Readonly<Record<string, string>> }): ChatTemplate {
  const { parsed } = atTemplate(path, "read", () => new jinja.Template(source));
  return (messages, { addGenerationPrompt, tools, variables = {} }) =>
    atTemplate(path, "render", () => {
      const environment = new jinja.Environment();
      const given = {
        ...builtIns,
        ...globals,
        ...variables,
        messages,
        add_generation_prompt: addGenerationPrompt,
        ...(tools === undefined || tools.length === 0 ? { tools: null } : { tools }),
      };
      for (const [name, value] of Object.entries(given)) environment.set(name, value);
      return String(new jinja.Interpreter(environment).run(parsed).value);
    });
}

const builtIns = {
  ...{ true: true, false: false, none: null, True: true, False: false, None: null },
  range,
  raise_exception: (message: string): never => {
    throw new Error(message);
  },
  strftime_now: (format: string): string => format.replace(/%([a-zA-Z%])/g, (all, code: string) => dateParts[code]?.() ?? all),
};

function range(first: number, end?: number, step = 1): number[] {
  const [from, to] = end === undefined ? [0, first] : [first, end];
  return Array.from({ length: Math.max(0, Math.ceil((to - from) / step)) }, (_, i) => from + i * step);
}

const named = (options: Intl.DateTimeFormatOptions): string => new Intl.DateTimeFormat("en", { ...options, timeZone: "UTC" }).format(today);
const two = (value: number): string => String(value).padStart(2, "0");

const dateParts: Readonly<Record<string, () => string>> = {
  Y: () => String(today.getUTCFullYear()),
  y: () => two(today.getUTCFullYear() % 100),
  m: () => two(today.getUTCMonth() + 1),
  d: () => two(today.getUTCDate()),
  B: () => named({ month: "long" }),
  b: () => named({ month: "short" }),
  A: () => named({ weekday: "long" }),
  a: () => named({ weekday: "short" }),
  H: () => "00",
  M: () => "00",
  S: () => "00",
  "%": () => "%",
};

function atTemplate<T>(path: string, doing: "read" | "render", action: () => T): T {
  try {
    return action();
  } catch (cause) {
    const reason = messageOf(cause).slice(0, 300);
    const remedy = doing === "read" ? "Restore the model's files, or give another template (`template`)." : "Give messages, tools and variables that it accepts, or another template (`template`).";
    throw new SpadeError("chat.template", `Cannot ${doing} the chat template ${path}: ${reason}. ${remedy}`, { cause, details: { path } });
  }
}
