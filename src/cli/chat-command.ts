import { probeChats, type ProbedChat } from "../chat/probe.ts";
import { loadChatModel } from "../chat/template-renderer.ts";
import { SpadeError } from "../core/errors.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { table } from "./format.ts";

/** `spade chat`: shows how a model's directory renders chats, and which of them stay one training row. */
export const chatCommand: CommandSpec = {
  name: "chat",
  usage: "chat <model directory> [options]",
  summary: "Check the tokenizer and chat template of a local model directory, and show which chats keep one training row.",
  options: [
    { name: "template", value: "FILE", help: "Jinja template to use instead of the directory's" },
    { name: "set", value: "JSON", help: 'variables of the template, for example {"enable_thinking": false}' },
    { name: "prompts", help: "print the rendered prompts too" },
    { name: "json", help: "print JSON" },
  ],
  run: checkChat,
};

const meanings: Readonly<Record<ProbedChat["history"], string>> = {
  extends: "one row: what follows extends what was rendered",
  rewrites: "a row per turn: the template rewrites what it rendered before",
  refused: "not rendered",
};

async function checkChat(args: Arguments): Promise<number> {
  const directory = args.required(0, "The model's directory");
  const template = args.text("template");
  const model = await loadChatModel({ directory, variables: variablesOf(args.text("set")), ...(template === undefined ? {} : { template }) });
  const chats = probeChats(model);
  const exitCode = chats[0]?.history === "refused" ? 1 : 0;
  const stops = model.stopTokens.map((id) => ({ id, token: model.tokenizer.token(id) ?? "" }));
  if (args.flag("json")) {
    console.log(JSON.stringify({ directory, digest: model.digest, tokenizerDigest: model.tokenizerDigest, stopTokens: stops, chats }, null, 2));
    return exitCode;
  }
  console.log(`${directory}: digest ${model.digest.slice(0, 16)}, tokenizer ${model.tokenizerDigest.slice(0, 16)}, a turn ends at ${stops.map(({ id, token }) => `${token} (${id})`).join(", ")}\n`);
  console.log(table([["chat", "history"], ...chats.map(({ name, history, reason }) => [name, reason ?? meanings[history]])]));
  if (args.flag("prompts")) for (const { name, prompt } of chats) console.log(`\n--- ${name}\n${prompt}`);
  return exitCode;
}

function variablesOf(text: string | undefined): Readonly<Record<string, unknown>> {
  if (text === undefined) return {};
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return parsed as Readonly<Record<string, unknown>>;
  } catch {
    // Told below, as for any other text that is no object.
  }
  throw new SpadeError("usage.variables", `--set must be a JSON object, not ${JSON.stringify(text)}. Example: --set '{"enable_thinking": false}'`);
}
