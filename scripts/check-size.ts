/** Checks the size limits of the house style: files of at most 400 lines, functions of at most 80. */
import { existsSync, globSync, readFileSync } from "node:fs";
import ts from "typescript";

const fileLimit = 400;
const functionLimit = 80;
/** Known exceptions, `path` or `path#function`. This list may only shrink. */
const exceptionsFile = "scripts/size-exceptions.json";
const exceptions = new Set(existsSync(exceptionsFile) ? (JSON.parse(readFileSync(exceptionsFile, "utf8")) as string[]) : []);
const problems: string[] = [];
const used = new Set<string>();

for (const file of globSync("{src,models,bench,scripts}/**/*.ts").sort()) {
  const text = readFileSync(file, "utf8");
  const lines = text.split("\n").length;
  if (lines > fileLimit) report(file, `${file}: ${lines} lines, limit ${fileLimit}: split it by purpose`);
  if (!file.endsWith(".test.ts")) checkFunctions(file, text);
}
for (const entry of exceptions) if (!used.has(entry)) problems.push(`${exceptionsFile}: "${entry}" is no longer needed, remove it`);
if (problems.length > 0) {
  console.error(problems.join("\n"));
  process.exit(1);
}
console.log("sizes: files and functions are within the limits");

function checkFunctions(file: string, text: string): void {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node)) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const count = source.getLineAndCharacterOfPosition(node.end).line - first + 1;
      const name = node.name?.getText() ?? "anonymous";
      if (count > functionLimit) report(`${file}#${name}`, `${file}:${first + 1}: function ${name} has ${count} lines, limit ${functionLimit}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
}

function report(key: string, problem: string): void {
  if (exceptions.has(key)) used.add(key);
  else problems.push(problem);
}
