import { createReadStream } from "node:fs";
import { pipeline } from "node:stream";
import { createGunzip, createZstdDecompress } from "node:zlib";
import { SpadeError, messageOf } from "../core/errors.ts";

/** Where one line lies in the (unpacked) contents of a file; `number` counts from 1, `bytes` excludes the line break. */
export interface Line {
  readonly number: number;
  readonly start: number;
  readonly bytes: number;
}

/** How the contents of a file are packed. */
export type Packing = "plain" | "gzip" | "zstd";

const newline = 0x0a;
/** A longer line is a mistake: a file that is not made of lines would fill the memory. */
const maxLineBytes = 64 * 2 ** 20;

/** Yields the lines of a file with their contents, reading and unpacking it in chunks; at most one line is held in memory. @throws corpus.file, corpus.line */
export async function* readLines(path: string, packing: Packing = "plain"): AsyncGenerator<Line & { readonly content: Buffer }> {
  let rest: Buffer[] = [];
  let held = 0;
  let start = 0;
  let number = 1;
  try {
    for await (const chunk of open(path, packing)) {
      let from = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
        const content = rest.length === 0 ? chunk.subarray(from, end) : Buffer.concat([...rest, chunk.subarray(from, end)]);
        yield { number, start, bytes: content.length, content };
        rest = [];
        held = 0;
        start += content.length + 1;
        number++;
        from = end + 1;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
      held += chunk.length - from;
      if (held > maxLineBytes) throw tooLong(path, number);
    }
  } catch (cause) {
    throw cause instanceof SpadeError ? cause : unreadable(path, { packing, line: number, cause });
  }
  const content = Buffer.concat(rest);
  if (content.length > 0) yield { number, start, bytes: content.length, content };
}

function open(path: string, packing: Packing): AsyncIterable<Buffer> {
  const file = createReadStream(path, { highWaterMark: 256 * 1024 });
  if (packing === "plain") return file;
  // A failure of either stream ends the iteration over the second one, which throws it.
  return pipeline(file, packing === "gzip" ? createGunzip() : createZstdDecompress(), () => undefined);
}

function tooLong(path: string, line: number): SpadeError {
  return new SpadeError("corpus.line", `Line ${line} of the corpus file ${path} is longer than ${maxLineBytes / 2 ** 20} MiB, the most that a document may take. Check that the file is JSONL: one JSON object a line.`, { details: { path, line } });
}

function unreadable(path: string, { packing, line, cause }: { readonly packing: Packing; readonly line: number; readonly cause: unknown }): SpadeError {
  const details = { path, line };
  if (packing === "plain" || (cause as { syscall?: unknown }).syscall !== undefined) {
    return new SpadeError("corpus.file", `Cannot read the corpus file ${path}: ${messageOf(cause)}. Check its path in corpus.paths or corpus.sources and its permissions.`, { details, cause });
  }
  const check = packing === "gzip" ? "gzip -t" : "zstd -t";
  return new SpadeError("corpus.file", `Cannot unpack the corpus file ${path} beyond line ${line}: ${messageOf(cause)}. It is cut short, damaged or not ${packing} (${check} tells): fetch or pack it again.`, { details, cause });
}
