import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { Episode } from "../core/episode.ts";
import { invariant } from "../core/errors.ts";
import type { Trajectory } from "../core/trajectory.ts";
import type { SqlValue } from "./columns.ts";
import { inTransaction } from "./database.ts";
import { atStorageBoundary } from "./errors.ts";
import { columnsOf } from "./tables.ts";
import type { Row, TableName, TrajectoryOwner } from "./tables.ts";

type Timing = Readonly<Record<string, number>>;

interface WriterContext {
  readonly path: string;
  readonly database: DatabaseSync;
  readonly prepare: (sql: string) => StatementSync;
  readonly iteration: number;
  /** Tells whether this is still the store's newest attempt. */
  readonly isCurrent: (attempt: number) => boolean;
}

/** Appends the rows of one attempt at one iteration. Readers see none of them until `commit`. */
export class IterationWriter {
  readonly iteration: number;
  readonly attempt: number;
  readonly #context: WriterContext;
  #events = 0;
  #committed = false;

  constructor(context: WriterContext) {
    this.#context = context;
    this.iteration = context.iteration;
    const inserted = atStorageBoundary(context.path, () => context.prepare("INSERT INTO attempts (iteration) VALUES (?)").run(context.iteration));
    this.attempt = Number(inserted.lastInsertRowid);
  }

  /** Appends rows in one transaction. @throws storage.write */
  add<Name extends TableName>(name: Name, ...rows: readonly Row<Name>[]): void {
    this.#transaction(() => rows.forEach((row) => this.#insert(name, row)));
  }

  /** Appends episodes with their trajectories in one transaction. @throws storage.write */
  addEpisodes(episodes: readonly (Episode & { readonly timing?: Timing })[]): void {
    this.#transaction(() => {
      for (const { trajectory, ...row } of episodes) {
        this.#insert("episodes", row);
        this.#insertTrajectory("episode", row.id, trajectory);
      }
    });
  }

  /** Appends a trajectory of the designer. @throws storage.write */
  addTrajectory(owner: Exclude<TrajectoryOwner, "episode">, ownerId: string, trajectory: Trajectory): void {
    this.#transaction(() => this.#insertTrajectory(owner, ownerId, trajectory));
  }

  /** Appends something worth telling, after the events before it. @throws storage.write */
  addEvent(kind: string, data: unknown, timing?: Timing): void {
    this.add("events", { position: this.#events++, kind, data, ...(timing === undefined ? {} : { timing }) });
  }

  /** Makes the iteration part of the record. The writer takes no more rows. @throws storage.write */
  commit(end: { readonly policyVersion: number; readonly timing?: Timing }): void {
    this.#transaction(() =>
      this.#context
        .prepare("INSERT INTO iterations (attempt, iteration, policyVersion, timing) VALUES (?, ?, ?, ?)")
        .run(this.attempt, this.iteration, end.policyVersion, end.timing === undefined ? null : JSON.stringify(end.timing)),
    );
    this.#committed = true;
  }

  #insertTrajectory(owner: TrajectoryOwner, ownerId: string, { role, arm, segments }: Trajectory): void {
    segments.forEach((segment, position) => {
      const { kind, tokens } = segment;
      const sampled = segment.kind === "sampled" ? { logprobs: segment.logprobs, policyVersion: segment.policyVersion } : {};
      this.#insert("segments", { owner, ownerId, position, role, arm, kind, tokens, ...sampled });
    });
  }

  #insert<Name extends TableName>(name: Name, row: Row<Name>): void {
    const columns = columnsOf(name);
    const given: Readonly<Record<string, unknown>> = row;
    const values = columns.map(([column, { encode }]): SqlValue => (given[column] === undefined ? null : encode(given[column])));
    const names = columns.map(([column]) => `"${column}"`).join(", ");
    this.#context.prepare(`INSERT INTO ${name} (attempt, ${names}) VALUES (?${", ?".repeat(columns.length)})`).run(this.attempt, ...values);
  }

  #transaction(action: () => void): void {
    invariant(!this.#committed, `iteration ${this.iteration} takes no rows after its commit`);
    invariant(this.#context.isCurrent(this.attempt), `attempt ${this.attempt} at iteration ${this.iteration} was superseded`);
    atStorageBoundary(this.#context.path, () => inTransaction(this.#context.database, action));
  }
}
