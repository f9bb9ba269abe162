import { canonicalJson, sha256 } from "../core/digest.ts";
import { SpadeError } from "../core/errors.ts";
import type { ContextSegment } from "../core/trajectory.ts";
import type { Message } from "./messages.ts";
import { type ModelDirectory, readModelDirectory } from "./model-directory.ts";
import type { Opening, Rendered, Renderer, ToolSchema } from "./renderer.ts";
import type { ChatTokenizer } from "./tokenizer.ts";

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
  readonly tokenizer: ChatTokenizer;
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
  const { tokenizer, tokenizerDigest } = files;
  return { renderer: templateRenderer({ files, variables, stopTokens }), tokenizer, stopTokens, tokenizerDigest, digest: sha256(canonicalJson([files.digest, variables])) };
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
  return { begin, prompt: (opening) => begin(opening).segment.tokens, text: (tokens) => replyOf(parts, tokens)[0] };
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
      const [said, end] = replyOf(parts, sampled);
      const messages = [...past.messages, { role: "assistant" as const, content: tokenizer.defuse(said) }, ...told.map(({ role, content }) => ({ role, content: tokenizer.defuse(content) }))];
      const text = render(parts, messages, past.tools);
      return at(parts, { ...past, messages, text }, continuation(parts, { row: past.text + said + end, end, text }));
    },
  };
}

/**
 * What `text` adds to a row that stands for `row` and ends with the stop token `end`, if any. An extension is tokenised once
 * and appended; anything else is a new row. The stop token is tokenised along, because it decides how what follows is split.
 */
function continuation({ files: { tokenizer } }: Parts, { row, end, text }: { readonly row: string; readonly end: string; readonly text: string }): ContextSegment {
  if (!text.startsWith(row) || text.length === row.length) return { kind: "prompt", tokens: tokenizer.encode(text) };
  const added = text.slice(row.length);
  const tokens = tokenizer.encode(end + added);
  return { kind: "observation", tokens: end !== "" && tokens[0] === tokenizer.id(end) ? tokens.slice(1) : tokenizer.encode(added) };
}

function render({ files, variables }: Pick<Parts, "files" | "variables">, messages: readonly Message[], tools: readonly ToolSchema[], addGenerationPrompt = true): string {
  const template = tools.length > 0 ? (files.toolTemplate ?? files.template) : files.template;
  return template(messages, { addGenerationPrompt, tools, variables });
}

/** Text of a reply, and of the stop token at its end; empty where it was cut off. */
function replyOf({ stopTokens, files: { tokenizer } }: Parts, tokens: Int32Array): [said: string, end: string] {
  const last = tokens.at(-1);
  if (last === undefined || !stopTokens.includes(last)) return [tokenizer.decode(tokens), ""];
  return [tokenizer.decode(tokens.subarray(0, -1)), tokenizer.token(last) ?? ""];
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
