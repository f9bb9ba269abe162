import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { sha256 } from "../core/digest.ts";
import { messageOf, SpadeError } from "../core/errors.ts";
import { type ChatTemplate, compileTemplate } from "./template.ts";
import { type ChatTokenizer, chatTokenizer } from "./tokenizer.ts";

/** What a local Hugging Face style directory says of how its model is talked to. */
export interface ModelDirectory {
  readonly tokenizer: ChatTokenizer;
  /** The template of plain chats. */
  readonly template: ChatTemplate;
  /** The template of chats with tools, where the directory has one of its own. */
  readonly toolTemplate?: ChatTemplate;
  /** Ids that end the model's turn, as `generation_config.json` and `tokenizer_config.json` name them. */
  readonly endTokens: readonly number[];
  /** Digest of the tokenizer: two directories with equal ones give equal ids. */
  readonly tokenizerDigest: string;
  /** Digest of tokenizer and templates. */
  readonly digest: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** Templates by name, and the file they stand in. */
interface Templates {
  readonly path: string;
  readonly byName: ReadonlyMap<string, string>;
}

/**
 * Reads `tokenizer.json`, `tokenizer_config.json`, the chat template (`chat_template.jinja`, `chat_template.json` or inside
 * `tokenizer_config.json`) and, if there, `generation_config.json`. `template` replaces the directory's template by a file.
 * @throws chat.tokenizer, chat.template
 */
export async function readModelDirectory(directory: string, options: { readonly template?: string } = {}): Promise<ModelDirectory> {
  const path = join(directory, "tokenizer.json");
  const text = await readText(path);
  if (text === undefined) throw unreadable(path, "there is no such file. Give a local directory with the files of a Hugging Face model (tokenizer.json, tokenizer_config.json)");
  const file = parseFields(text, path);
  const config = (await readFields(join(directory, "tokenizer_config.json"))) ?? {};
  const generation = (await readFields(join(directory, "generation_config.json"))) ?? {};
  const tokenizer = chatTokenizer({ tokenizer: withAddedTokens(file, path), config, path });
  const templates = options.template === undefined ? await findTemplates(directory, config) : await givenTemplate(options.template);
  const source = templates.byName.get("default");
  if (source === undefined) throw new SpadeError("chat.template", `${templates.path} has no template "default", only ${[...templates.byName.keys()].join(", ")}. Give a template file (\`template\`).`);
  const globals = specialTokens(config);
  const compiled = (text: string): ChatTemplate => compileTemplate(text, { path: templates.path, globals });
  const toolSource = templates.byName.get("tool_use");
  const ends = [generation["eos_token_id"]].flat().filter((id) => typeof id === "number");
  const eos = tokenizer.id(globals["eos_token"] ?? "");
  return {
    tokenizer,
    template: compiled(source),
    ...(toolSource === undefined ? {} : { toolTemplate: compiled(toolSource) }),
    endTokens: [...new Set(eos === undefined ? ends : [...ends, eos])],
    tokenizerDigest: sha256(text),
    digest: sha256(JSON.stringify([text, [...templates.byName], globals])),
  };
}

async function findTemplates(directory: string, config: Fields): Promise<Templates> {
  const jinja = join(directory, "chat_template.jinja");
  const alone = await readText(jinja);
  if (alone !== undefined) return { path: jinja, byName: new Map([["default", alone]]) };
  const json = join(directory, "chat_template.json");
  for (const [path, fields] of [[json, await readFields(json)], [join(directory, "tokenizer_config.json"), config]] as const) {
    const found = fields?.["chat_template"];
    if (typeof found === "string") return { path, byName: new Map([["default", found]]) };
    if (Array.isArray(found)) return { path, byName: new Map((found as readonly Fields[]).map(({ name, template }) => [String(name), String(template)])) };
  }
  throw new SpadeError("chat.template", `${directory} has no chat template: looked for chat_template.jinja, chat_template.json and \`chat_template\` in tokenizer_config.json. Give a template file (\`template\`), or use an instruction-tuned model.`, { details: { directory } });
}

async function givenTemplate(path: string): Promise<Templates> {
  const text = await readText(path);
  if (text === undefined) throw new SpadeError("chat.template", `The template file ${path} does not exist. Give the path of a Jinja file, or leave \`template\` out.`, { details: { path } });
  return { path, byName: new Map([["default", text]]) };
}

/** `bos_token` and its like by name; Hugging Face writes them as text or as an object with `content`. */
function specialTokens(config: Fields): Readonly<Record<string, string>> {
  const tokens = Object.entries(config).flatMap(([name, value]): [string, string][] => {
    if (!/^[a-z]+_token$/.test(name)) return [];
    const content: unknown = typeof value === "object" && value !== null ? (value as Fields)["content"] : value;
    return typeof content === "string" ? [[name, content]] : [];
  });
  return Object.fromEntries(tokens);
}

function withAddedTokens(file: Fields, path: string): Fields {
  const { added_tokens: added = [] } = file as { readonly added_tokens?: unknown };
  if (!Array.isArray(added)) throw unreadable(path, "`added_tokens` is not a list");
  return { ...file, added_tokens: added };
}

async function readFields(path: string): Promise<Fields | undefined> {
  const text = await readText(path);
  return text === undefined ? undefined : parseFields(text, path);
}

function parseFields(text: string, path: string): Fields {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Fields;
  } catch (cause) {
    throw unreadable(path, `it is not JSON (${messageOf(cause).slice(0, 200)}). Download the file again`, cause);
  }
  throw unreadable(path, "it is not a JSON object. Download the file again");
}

/** Text of a file; undefined when there is none. */
async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unreadable(path, messageOf(cause), cause);
  }
}

function unreadable(path: string, problem: string, cause?: unknown): SpadeError {
  return new SpadeError("chat.tokenizer", `Cannot read ${path}: ${problem}.`, { cause, details: { path } });
}
