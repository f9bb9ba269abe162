import { existsSync, globSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import type { Extraction, Language } from "../core/environment.ts";
import { messageOf, SpadeError } from "../core/errors.ts";
import { extractProgram } from "../designer/extract.ts";
import { admitAll, type Candidate } from "../gates/admit.ts";
import { defaultGates, type GatesConfig } from "../gates/config.ts";
import { openSandbox } from "../sandbox/pool.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";
import { benchCommand, benchOptions } from "./gate-bench.ts";
import { type Judgement, judgementJson, judgementText } from "./gate-verdict.ts";

/** `spade gate`: judges program files, or replies that hold a program, as a run would. */
export const gateCommand: CommandSpec = {
  name: "gate",
  usage: "gate <file or folder> | bench [options]",
  summary: "Judge a program file, or every one in a folder, by the admission gates. Reads Python (.py), TypeScript (.ts) and Markdown replies (.md) with a program in a fenced block. Exit code 0: admitted; 1: rejected. `gate bench` measures the gates on good programs and on mutants of them; exit code 1: a target is missed.",
  options: [
    { name: "json", help: "print JSON: every gate with its evidence" },
    { name: "profile", value: "own|foreign", help: "foreign: a missing or free-text solution() is excused (default own)" },
    { name: "document", value: "FILE", help: "text that the programs must be grounded in (default: gate grounded is off)" },
    { name: "seed", value: "N", help: "seed of the gates' choices (default 0)" },
    ...benchOptions,
  ],
  run: judge,
};

/** Files that are read, by extension. */
const readers: Readonly<Record<string, (text: string) => Extraction>> = {
  ".py": (source) => programOf("python", source),
  ".ts": (source) => programOf("typescript", source),
  ".md": extractAny,
};

function programOf(language: Language, source: string): Extraction {
  return { ok: true, program: { language, source: source.replaceAll("\r\n", "\n") }, repairs: [] };
}

/** The Python program of a reply; where there is none, the TypeScript program. */
function extractAny(reply: string): Extraction {
  const python = extractProgram(reply);
  if (python.ok) return python;
  const typescript = extractProgram(reply, "typescript");
  return typescript.ok ? typescript : python;
}

/** Two children, so that gate `determinism` has another process to compare with. */
const lanes = 2;

async function judge(args: Arguments): Promise<number> {
  if (args.positionals[0] === "bench") return benchCommand(args);
  const path = args.required(0, "The file or folder");
  const files = programFiles(path);
  const document = args.text("document");
  const config = configOf(args);
  const seed = args.integer("seed") ?? 0;
  const candidates = files.map((file) => candidateOf(file, document === undefined ? "" : readText(document)));
  await using stack = new AsyncDisposableStack();
  const sandbox = await openSandbox({ lanes });
  stack.defer(() => sandbox.close());
  const admissions = await admitAll(candidates, { sandbox, config, seed });
  const judgement: Judgement = { path, isFolder: statSync(path).isDirectory(), config, seed, ...(document === undefined ? {} : { document }), files: admissions.map((admission, i) => ({ file: files[i] ?? path, admission })) };
  console.log(args.flag("json") ? JSON.stringify(judgementJson(judgement), null, 2) : judgementText(judgement));
  return admissions.every(({ record }) => record.verdict === "admitted") ? 0 : 1;
}

/** The default gates under the chosen profile; without a document there is nothing to be grounded in. */
function configOf(args: Arguments): GatesConfig {
  const profile = args.text("profile") ?? "own";
  if (profile !== "own" && profile !== "foreign") throw new SpadeError("usage.profile", `--profile must be own or foreign, not "${profile}". See: spade gate --help`);
  const grounded = { ...defaultGates.grounded, enabled: args.text("document") !== undefined };
  return { ...defaultGates, profile, grounded };
}

function programFiles(path: string): string[] {
  const known = new Intl.ListFormat("en", { type: "disjunction" }).format(Object.keys(readers));
  if (!existsSync(path)) throw new SpadeError("usage.file", `There is no ${path}. Give a program file (${known}) or a folder of them.`);
  if (!statSync(path).isDirectory()) {
    if (readers[extname(path)] === undefined) throw new SpadeError("usage.file", `${path} does not end in ${known}. Give a program file, or a Markdown reply with a program in a fenced block.`);
    return [path];
  }
  const found = globSync("**/*", { cwd: path }).filter((name) => readers[extname(name)] !== undefined && statSync(join(path, name)).isFile());
  if (found.length === 0) throw new SpadeError("usage.file", `The folder ${path} holds no file that ends in ${known}. Give a folder of programs.`);
  return found.sort().map((name) => join(path, name));
}

/** All candidates bear one name, so that equal programs get equal seeds and verdicts wherever they lie. */
function candidateOf(file: string, document: string): Candidate {
  const text = readText(file);
  const read = readers[extname(file)] ?? extractAny;
  return { id: "file", text, extraction: read(text), document };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    throw new SpadeError("usage.file", `Cannot read ${file}: ${messageOf(cause)}. Check the path and its permissions.`, { cause });
  }
}
