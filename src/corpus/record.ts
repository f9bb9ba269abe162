import { basename } from "node:path";
import { sha256 } from "../core/digest.ts";
import { SpadeError, messageOf } from "../core/errors.ts";
import { isAddress } from "./location.ts";

/** A grounding document. */
export interface Document {
  /** The record's own id, else a prefix of the digest of its text: the same however the corpus is ordered. */
  readonly id: string;
  readonly text: string;
  /** File, line or row, and the record's other fields. */
  readonly source: Readonly<Record<string, unknown>>;
}

/** Where a record lies. */
export interface Place {
  readonly path: string;
  /** Of a file of lines, from 1. */
  readonly line?: number;
  /** Of a Parquet file, from 0. */
  readonly row?: number;
  readonly rowGroup?: number;
}

/** Names of the fields (columns) of a record. */
export interface Fields {
  /** The first of them that holds any words is the text. */
  readonly textFields: readonly string[];
  /** Empty: documents are named by their text. */
  readonly idField: string;
}

/** What a record says. */
export interface Entry {
  readonly id?: string;
  /** Trimmed; empty when the record has a text field without any words. */
  readonly text: string;
  /** The other fields. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Reads one line of a JSONL file. @throws corpus.line */
export function parseLine(content: Uint8Array, fields: Fields, place: Place): Entry {
  const text = decodeText(content, place);
  if (text.trim() === "") throw recordError(place, "the line is empty");
  return entryOf(parseJson(text, place), fields, place);
}

/** A whole text file as a record. @throws corpus.file */
export function textEntry(content: Uint8Array, place: Place): Entry {
  return { text: decodeText(content, place).trim(), metadata: {} };
}

/** Reads text and id of a record. @throws corpus.line, corpus.row */
export function entryOf(value: unknown, { textFields, idField }: Fields, place: Place): Entry {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw recordError(place, `expected object, received ${value === null ? "null" : Array.isArray(value) ? "array" : typeof value}`);
  const record = value as Readonly<Record<string, unknown>>;
  const texts = textFields.flatMap((name) => textOf(name, record[name], place));
  if (texts.length === 0) throw recordError(place, noText(textFields));
  const id = idOf(idField, record[idField], place);
  const named = new Set([...textFields, idField]);
  const metadata = Object.fromEntries(Object.entries(record).filter(([name]) => !named.has(name)));
  return { text: texts.find((text) => text !== "") ?? "", metadata, ...(id === undefined ? {} : { id }) };
}

function textOf(name: string, value: unknown, place: Place): readonly string[] {
  if (value === undefined) return [];
  if (value === null) return [""];
  if (typeof value !== "string") throw recordError(place, `its "${name}" is a ${typeof value}, expected a string`);
  return [value.trim()];
}

function idOf(name: string, value: unknown, place: Place): string | undefined {
  if (name === "" || value === undefined || value === null) return undefined;
  const id = typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : "";
  if (id === "") throw recordError(place, `its "${name}" is ${value === "" ? "empty" : `a ${typeof value}`}, expected a string or a number`);
  return id;
}

/** What is wrong with a record whose text is missing or has no words. */
export function noText(textFields: readonly string[]): string {
  const names = textFields.map((name) => `"${name}"`);
  return `it has ${names.length === 1 ? "no" : "neither"} ${names.join(" nor ")} with any words`;
}

function parseJson(text: string, place: Place): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw recordError(place, messageOf(cause), cause);
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function decodeText(content: Uint8Array, place: Place): string {
  try {
    return utf8.decode(content);
  } catch (cause) {
    throw recordError(place, messageOf(cause), cause);
  }
}

/** The error for a record that is no document. */
export function recordError(place: Place, finding: string, cause?: unknown): SpadeError {
  const [code, name, remedy] = describePlace(place);
  return new SpadeError(code, `${name} is not a document: ${finding}. ${remedy}`, { details: { ...place, finding }, cause });
}

function describePlace({ path, line, row, rowGroup }: Place): readonly [`corpus.${string}`, string, string] {
  if (line !== undefined) {
    return ["corpus.line", `Line ${line} of the corpus file ${path}`, `Each line must be one JSON object with its text in one of the source's textFields; correct or delete the line.`];
  }
  if (row !== undefined) {
    return ["corpus.row", `Row ${row} (row group ${rowGroup ?? 0}) of the corpus file ${path}`, `Correct the row, or name other columns in the source's textFields and idField.`];
  }
  return ["corpus.file", `The corpus file ${path}`, `Each file of a text folder must be UTF-8 text; correct or remove it.`];
}

/** An entry as a document, its text cut to `maxWords`. */
export function documentOf({ id, text, metadata }: Entry, place: Place, maxWords: number): Document {
  const { path, line, row } = place;
  const file = isAddress(path) ? path : basename(path);
  const position = line !== undefined ? { line } : row !== undefined ? { row } : {};
  return { id: id ?? sha256(text).slice(0, 16), text: firstWords(text, maxWords), source: { ...metadata, file, ...position } };
}

/** The first `maxWords` words of a text. */
export function firstWords(text: string, maxWords: number): string {
  let words = 0;
  for (const { index } of text.matchAll(/\S+/g)) {
    if (words++ === maxWords) return text.slice(0, index).trimEnd();
  }
  return text;
}

/** Which lengths of documents are kept; both ends included. */
export interface LengthLimits {
  readonly minWords: number;
  readonly maxWords?: number;
  readonly minCharacters: number;
  readonly maxCharacters?: number;
}

/** Words and characters (UTF-16 code units) of a text. */
export interface TextLength {
  readonly words: number;
  readonly characters: number;
}

const space = /\s/;

/** Measures a text; a word is a run of characters that are no white space. */
export function lengthOf(text: string): TextLength {
  let words = 0;
  let inside = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const blank = code <= 0x20 ? code === 0x20 || (code >= 9 && code <= 13) : code >= 0xa0 && space.test(text[i] ?? "");
    if (!blank && !inside) words++;
    inside = !blank;
  }
  return { words, characters: text.length };
}

/** Whether a length lies within the limits. */
export function isWithin({ words, characters }: TextLength, limits: LengthLimits): boolean {
  const { minWords, maxWords = Infinity, minCharacters, maxCharacters = Infinity } = limits;
  return words >= minWords && words <= maxWords && characters >= minCharacters && characters <= maxCharacters;
}
