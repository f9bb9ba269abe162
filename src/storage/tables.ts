import type { Language } from "../core/environment.ts";
import type { Outcome, Turn } from "../core/episode.ts";
import type { Arm, Role } from "../core/role.ts";
import type { Segment } from "../core/trajectory.ts";
import { boolean, float32, int32, integer, json, optional, real, text, timing } from "./columns.ts";
import type { Column } from "./columns.ts";

/** Raised whenever a table changes; a run of another version is refused, never migrated silently. */
export const schemaVersion = 1;

type Columns = Readonly<Record<string, Column<never>>>;

interface Table<C> {
  readonly columns: C;
  /** Columns that identify a row within its attempt. */
  readonly key: readonly (keyof C & string)[];
}

function table<const C>(key: readonly (keyof C & string)[], columns: C): Table<C> {
  return { columns, key };
}

/** What a stored trajectory belongs to; `design` and `hint` are the designer's calls for one candidate. */
export type TrajectoryOwner = "episode" | "design" | "hint";

/** The append-only tables whose rows belong to an iteration; each row also carries its attempt. No masks and no aggregates are stored. */
export const tables = {
  documents: table(["id"], { id: text(), text: text(), source: json<Readonly<Record<string, unknown>>>() }),
  designTasks: table(["id"], {
    id: text(),
    skill: text(),
    documentId: text(),
    examples: json<readonly { readonly environmentId: string; readonly verdict: string }[]>(),
  }),
  /** Every candidate, rejected ones included. */
  environments: table(["id"], {
    id: text(),
    taskId: text(),
    /** Index of the candidate within its task, from 0. */
    candidate: integer,
    skill: text(),
    documentId: text(),
    admitted: boolean,
    /** What the designer said, whole. */
    response: text(),
    /** Absent when no program could be extracted. */
    language: optional(text<Language>()),
    source: optional(text()),
    programId: optional(text()),
    hint: optional(text()),
    trivialWinRate: optional(real),
    maxTurns: optional(integer),
    /** Facts read from the program, for metrics. */
    facts: optional(json<Readonly<Record<string, unknown>>>()),
    timing,
  }),
  gateResults: table(["environmentId", "position"], {
    environmentId: text(),
    position: integer,
    gate: text(),
    passed: boolean,
    code: optional(text()),
    message: optional(text()),
    evidence: json<unknown>(),
    timing,
  }),
  episodes: table(["id"], {
    id: text(),
    environmentId: text(),
    arm: text<Arm>(),
    seed: integer,
    play: integer,
    outcome: json<Outcome>(),
    turns: json<readonly Turn[]>(),
    timing,
  }),
  segments: table(["owner", "ownerId", "position"], {
    owner: text<TrajectoryOwner>(),
    ownerId: text(),
    position: integer,
    role: text<Role>(),
    arm: text<Arm>(),
    kind: text<Segment["kind"]>(),
    tokens: int32,
    logprobs: optional(float32),
    policyVersion: optional(integer),
  }),
  rewards: table(["role", "subjectId"], { role: text<Role>(), subjectId: text(), reward: real, components: json<Readonly<Record<string, number>>>() }),
  advantages: table(["role", "subjectId"], { role: text<Role>(), subjectId: text(), advantage: real, weight: real, kept: boolean }),
  updates: table(["position"], { position: integer, policyVersion: integer, metrics: json<Readonly<Record<string, unknown>>>(), timing }),
  curriculumStates: table([], { state: json<unknown>() }),
  checkpoints: table(["name"], { name: text(), policyVersion: integer, digest: text() }),
  evaluations: table(["id"], {
    id: text(),
    suite: text(),
    programId: text(),
    mode: text<"sampled" | "greedy">(),
    seed: integer,
    play: integer,
    policyVersion: integer,
    outcome: json<Outcome>(),
    turns: json<readonly Turn[]>(),
    timing,
  }),
  events: table(["position"], { position: integer, kind: text(), data: json<unknown>(), timing }),
} as const;

export type TableName = keyof typeof tables;

type Present<C> = { readonly [K in keyof C as C[K] extends { readonly optional: false } ? K : never]: C[K] extends Column<infer V> ? V : never };
type Absent<C> = { readonly [K in keyof C as C[K] extends { readonly optional: false } ? never : K]?: C[K] extends Column<infer V> ? V : never };

/** A row of a table, as written and as read. */
export type Row<Name extends TableName> = Present<(typeof tables)[Name]["columns"]> & Absent<(typeof tables)[Name]["columns"]>;

/** The columns of a table by name, in order. */
export function columnsOf(name: TableName): readonly (readonly [string, Column<unknown>])[] {
  return Object.entries(tables[name].columns as unknown as Columns) as unknown as readonly (readonly [string, Column<unknown>])[];
}

/** Statements that make an empty database: tables, keys, and triggers that forbid changing what was written. */
export function schemaSql(): string {
  const fixed = [
    `CREATE TABLE runs (id INTEGER PRIMARY KEY CHECK (id = 1), schemaVersion INTEGER NOT NULL, header TEXT NOT NULL) STRICT`,
    `CREATE TABLE attempts (id INTEGER PRIMARY KEY, iteration INTEGER NOT NULL) STRICT`,
    `CREATE TABLE iterations (attempt INTEGER PRIMARY KEY REFERENCES attempts (id), iteration INTEGER NOT NULL, policyVersion INTEGER NOT NULL, timing TEXT) STRICT`,
    `CREATE TABLE rewinds (id INTEGER PRIMARY KEY, iteration INTEGER NOT NULL, attempt INTEGER NOT NULL) STRICT`,
    `CREATE VIEW committed AS SELECT * FROM iterations i WHERE NOT EXISTS (SELECT 1 FROM rewinds r WHERE i.iteration > r.iteration AND i.attempt <= r.attempt)`,
  ];
  const perIteration = (Object.keys(tables) as TableName[]).map((name) => {
    const columns = columnsOf(name).map(([column, { sqlType, optional: nullable }]) => `"${column}" ${sqlType}${nullable ? "" : " NOT NULL"}`);
    const key = ["attempt", ...tables[name].key].map((column) => `"${column}"`).join(", ");
    return `CREATE TABLE ${name} (attempt INTEGER NOT NULL REFERENCES attempts (id), ${columns.join(", ")}, UNIQUE (${key})) STRICT`;
  });
  const guarded = ["runs", "attempts", "iterations", "rewinds", ...Object.keys(tables)].flatMap((name) =>
    (["UPDATE", "DELETE"] as const).map(
      (verb) => `CREATE TRIGGER ${name}_no_${verb.toLowerCase()} BEFORE ${verb} ON ${name} BEGIN SELECT RAISE(ABORT, 'the record is append-only'); END`,
    ),
  );
  return [...fixed, ...perIteration, ...guarded].join(";\n");
}
