import { SpadeError } from "../core/errors.ts";
import type { ContextSegment } from "../core/trajectory.ts";
import type { Message } from "./messages.ts";
import { type ModelDirectory, readModelDirectory } from "./model-directory.ts";
import type { Opening, Rendered, Renderer, ToolSchema } from "./renderer.ts";

export interface ChatModelOptions {
  /** Local directory with the model's tokenizer and template. */
  readonly directory: string;
  /** A template file to use instead of the directory's. */
  readonly template?: string;
  /** Variables of the template, for example `{ enable_thinking: false }` for Qwen 3. */
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** How one model is talked to. */
export interface ChatModel {
  readonly renderer: Renderer;
  /** Ids that end the model's turn; what samples must stop at. */
  readonly stopTokens: readonly number[];
  /** Digest of the tokenizer alone; to compare with the tokenizer of the model that is served. */
  readonly tokenizerDigest: string;
  /** Digest of tokenizer, template and variables: equal ones render equally. */
  readonly digest: string;
}

/**
 * Loads the renderer of a model from its directory, and renders a short chat to see that the template works.
 * @throws chat.tokenizer, chat.template
 */
export async function loadChatModel({ directory, template, variables = {} }: ChatModelOptions): Promise<ChatModel> {
  const files = await readModelDirectory(directory, template === undefined ? {} : { template });
  const stopTokens = stopTokensOf(files, { directory, variables });
  return { renderer: templateRenderer({ files, variables, stopTokens }), stopTokens, tokenizerDigest: files.tokenizerDigest, digest: `${files.digest.slice(0, 32)}${JSON.stringify(variables)}` };
}

interface Parts {
  readonly files: ModelDirectory;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly stopTokens: readonly number[];
}

/** Renderer over a chat template and its tokenizer. */
function templateRenderer(parts: Parts): Renderer {
  const { tokenizer } = parts.files;
  const begin = (opening: Opening): Rendered => {
    const messages = [
      { role: "system" as const, content: tokenizer.defuse(opening.system) },
      { role: "user" as const, content: tokenizer.defuse(opening.user) },
    ].filter(({ role, content }) => role === "user" || content !== "");
    const past: Past = { messages, tools: opening.tools ?? [], text: render(parts, messages, opening.tools ?? []) };
    return at(parts, past, { kind: "prompt", tokens: tokenizer.encode(past.text) });
  };
  return { begin, prompt: (opening) => begin(opening).segment.tokens, text: (tokens) => tokenizer.decode(withoutStop(parts, tokens)) };
}

/** A conversation up to where the policy speaks: as messages, and as the text that the present row's tokens stand for. */
interface Past {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSchema[];
  readonly text: string;
}

function at(parts: Parts, past: Past, segment: ContextSegment): Rendered {
  const { tokenizer } = parts.files;
  return {
    segment,
    reply: (sampled, told) => {
      const said: Message = { role: "assistant", content: tokenizer.defuse(tokenizer.decode(withoutStop(parts, sampled))) };
      const messages = [...past.messages, said, ...told.map(({ role, content }) => ({ role, content: tokenizer.defuse(content) }))];
      const text = render(parts, messages, past.tools);
      return at(parts, { ...past, messages, text }, continuation(parts, { before: past.text, sampled, text }));
    },
  };
}

/**
 * What `text` adds to a row that stands for `before` and then the sampled tokens. An extension is tokenised once and
 * appended; anything else is a new row. The stop token is tokenised along, because it decides how what follows is split.
 */
function continuation({ files: { tokenizer } }: Parts, { before, sampled, text }: { readonly before: string; readonly sampled: Int32Array; readonly text: string }): ContextSegment {
  const row = before + tokenizer.decode(sampled);
  if (!text.startsWith(row) || text.length === row.length) return { kind: "prompt", tokens: tokenizer.encode(text) };
  const added = text.slice(row.length);
  const last = sampled.at(-1);
  const border = last === undefined ? undefined : tokenizer.token(last);
  if (border === undefined || tokenizer.controlAtStart(border) !== border) return { kind: "observation", tokens: tokenizer.encode(added) };
  return { kind: "observation", tokens: tokenizer.encode(border + added).subarray(1) };
}

function render({ files, variables }: Pick<Parts, "files" | "variables">, messages: readonly Message[], tools: readonly ToolSchema[], addGenerationPrompt = true): string {
  const template = tools.length > 0 ? (files.toolTemplate ?? files.template) : files.template;
  return template(messages, { addGenerationPrompt, tools, variables });
}

function withoutStop({ stopTokens }: Parts, tokens: Int32Array): Int32Array {
  const last = tokens.at(-1);
  return last !== undefined && stopTokens.includes(last) ? tokens.subarray(0, -1) : tokens;
}

/** The ends that the files name, and the control token that the template puts behind an assistant's message. */
function stopTokensOf(files: ModelDirectory, { directory, variables }: { readonly directory: string; readonly variables: Parts["variables"] }): readonly number[] {
  const marker = "the reply ends here";
  const chat: Message[] = [{ role: "user", content: "hello" }, { role: "assistant", content: marker }, { role: "user", content: "go on" }];
  const text = render({ files, variables }, chat, []);
  const end = text.indexOf(marker);
  if (end < 0) throw new SpadeError("chat.template", `The chat template of ${directory} leaves out what the assistant said: ${JSON.stringify(text.slice(0, 200))}. Give another template (\`template\`).`, { details: { directory } });
  const token = files.tokenizer.controlAtStart(text.slice(end + marker.length).trimStart());
  const id = token === undefined ? undefined : files.tokenizer.id(token);
  const stops = [...new Set(id === undefined ? files.endTokens : [id, ...files.endTokens])];
  if (stops.length > 0) return stops;
  throw new SpadeError("chat.template", `Nothing tells where a turn of the model in ${directory} ends: no eos_token, no generation_config.json, and the template puts no control token behind a reply. Add \`eos_token\` to tokenizer_config.json.`, { details: { directory } });
}
