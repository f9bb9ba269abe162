import { basename } from "node:path";
import { z } from "zod";
import { sha256 } from "../core/digest.ts";
import { SpadeError, messageOf } from "../core/errors.ts";

/** A grounding document. */
export interface Document {
  /** The record's own `id`, else a prefix of the digest of its text: the same however the corpus is ordered. */
  readonly id: string;
  readonly text: string;
  /** Name of the file, line, and the record's other fields. */
  readonly source: Readonly<Record<string, unknown>>;
}

const recordSchema = z
  .looseObject({ id: z.string().min(1).exactOptional(), text: z.string().exactOptional(), orig_doc: z.string().exactOptional() })
  .refine((record) => (record.text ?? record.orig_doc ?? "").trim() !== "", `it has neither "text" nor "orig_doc" with any words`);

/** Parses one line of a JSONL corpus. @throws corpus.line */
export function parseRecord(content: Uint8Array, place: { readonly path: string; readonly line: number }): Document {
  const value = parseJson(content, place);
  const record = recordSchema.safeParse(value);
  if (!record.success) throw lineError(place, record.error.issues.map((issue) => `${issue.path.join(".")} ${issue.message}`.trim()).join("; "));
  const { id, text, orig_doc: original, ...metadata } = record.data;
  const body = (text?.trim() ? text : (original ?? "")).trim();
  return { id: id ?? sha256(body).slice(0, 16), text: body, source: { ...metadata, file: basename(place.path), line: place.line } };
}

function parseJson(content: Uint8Array, place: { readonly path: string; readonly line: number }): unknown {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(content);
    if (text.trim() === "") throw lineError(place, "the line is empty");
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw cause instanceof SpadeError ? cause : lineError(place, messageOf(cause), cause);
  }
}

/** The error for a line that is no document. */
export function lineError(place: { readonly path: string; readonly line: number }, finding: string, cause?: unknown): SpadeError {
  return new SpadeError(
    "corpus.line",
    `Line ${place.line} of the corpus file ${place.path} is not a document: ${finding}. Each line must be one JSON object with a "text" (or "orig_doc"); correct or delete the line.`,
    { details: { ...place, finding }, cause },
  );
}

/** The first `maxWords` words of a text. */
export function firstWords(text: string, maxWords: number): string {
  let words = 0;
  for (const { index } of text.matchAll(/\S+/g)) {
    if (words++ === maxWords) return text.slice(0, index).trimEnd();
  }
  return text;
}
