import { sha256 } from "./digest.ts";

/** Language of an environment program; TypeScript includes plain JavaScript. */
export type Language = "python" | "typescript";

/** What a program takes as an action: the content of the last box of a response, or the whole response with its tool calls. */
export type ActionForm = "boxed" | "tools";

/** An environment program: one source file, hostile until proven otherwise. Run only by `sandbox/`. */
export interface Program {
  readonly language: Language;
  readonly source: string;
}

/** Stable id of a program: a prefix of the digest of its language and source. */
export function programId(program: Program): string {
  return sha256(`${program.language}\n${program.source}`).slice(0, 16);
}

/** What an environment is made from. */
export interface DesignTask {
  /** Unique in the run: `<iteration>.<index>`. */
  readonly id: string;
  readonly skill: string;
  readonly documentId: string;
  /** Empty when the task has no document. */
  readonly documentText: string;
  readonly examples: readonly DesignExample[];
}

/** Stands for the document of a task that has none. */
export const noDocument = { id: "none", text: "", source: {} } as const;

/** A past environment shown to the designer. */
export interface DesignExample {
  readonly verdict: "good" | "too easy" | "too hard";
  readonly skill: string;
  readonly source: string;
}

/** An admitted environment. `id` is unique in the run (one design task may be admitted once). */
export interface Environment {
  readonly id: string;
  readonly program: Program;
  readonly skill: string;
  readonly documentId: string;
  /** Absent when the hint was rejected or none is wanted. */
  readonly hint?: string;
  /** Win rate of the best trivial policy, in [0, 1]; the zero of the difficulty scale (gate 12). */
  readonly trivialWinRate: number;
  /** Turn limit declared by the program, at most the run's limit. */
  readonly maxTurns: number;
}

/** What was found in a designer's reply. `repairs` are alternatives to try, in order, when the program does not parse. */
export type Extraction =
  | { readonly ok: true; readonly program: Program; readonly repairs: readonly Repair[] }
  | { readonly ok: false; readonly code: "no-block" | "unclosed" | "empty"; readonly message: string };

/** A one-step repair of a program's text. */
export interface Repair {
  readonly name: string;
  readonly program: Program;
}
