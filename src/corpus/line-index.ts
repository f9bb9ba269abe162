import { createReadStream } from "node:fs";
import { SpadeError, messageOf } from "../core/errors.ts";

/** Where one line lies in a file; `number` counts from 1, `bytes` excludes the line break. */
export interface Line {
  readonly number: number;
  readonly start: number;
  readonly bytes: number;
}

const newline = 0x0a;

/** Yields the lines of a file with their contents, reading it in chunks; at most one line is held in memory. @throws corpus.file */
export async function* readLines(path: string): AsyncGenerator<Line & { readonly content: Buffer }> {
  let rest: Buffer[] = [];
  let start = 0;
  let number = 1;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
        const content = Buffer.concat([...rest, chunk.subarray(from, end)]);
        yield { number, start, bytes: content.length, content };
        rest = [];
        start += content.length + 1;
        number++;
        from = end + 1;
      }
      if (from < chunk.length) rest.push(chunk.subarray(from));
    }
  } catch (cause) {
    if (cause instanceof SpadeError) throw cause;
    throw new SpadeError("corpus.file", `Cannot read the corpus file ${path}: ${messageOf(cause)}. Check corpus.paths and the file's permissions.`, { details: { path }, cause });
  }
  const content = Buffer.concat(rest);
  if (content.length > 0) yield { number, start, bytes: content.length, content };
}
