import { SpadeError } from "../../core/errors.ts";
import type { Connection } from "./connection.ts";
import { failureOf } from "./failures.ts";
import { isRecord, protocolError } from "./wire.ts";

/** Release of the official SDK whose requests these are. */
const sdkVersion = "0.25.0";
/** The user is told when no heartbeat has arrived for this long. */
const silenceMs = 120_000;

/** A session on a Tinker server, kept alive by heartbeats until it is closed. */
export class Session {
  readonly id: string;
  readonly connection: Connection;
  /** Tokens of the model's context, when the server says so. */
  readonly contextLength: number | undefined;
  #models = 0;
  #samplers = 0;
  #timer: NodeJS.Timeout;
  #missedMs = 0;
  #beating = false;

  private constructor(connection: Connection, id: string, contextLength: number | undefined) {
    this.connection = connection;
    this.id = id;
    this.contextLength = contextLength;
    this.#timer = setInterval(() => void this.#beat(), connection.timing.heartbeatMs).unref();
  }

  /**
   * Checks that the server knows the model, and opens a session.
   * @throws SpadeError policy.unreachable, policy.key, policy.lost (wrong base URL), policy.model, policy.protocol
   */
  static async open(connection: Connection, baseModel: string): Promise<Session> {
    const contextLength = await checkModel(connection, baseModel);
    const answer = await connection.call("/api/v1/create_session", { tags: ["spade-rl"], sdk_version: sdkVersion, type: "create_session" }, { what: "Opening a session" });
    for (const key of ["info_message", "warning_message"]) if (typeof answer[key] === "string") connection.notice(`The server says: ${answer[key]}`);
    if (typeof answer["error_message"] === "string") throw new SpadeError("policy.request", `The server refuses the session: ${answer["error_message"]}. Do what it says, then start again.`);
    if (typeof answer["session_id"] !== "string") throw protocolError("create_session gave no session_id", answer);
    return new Session(connection, answer["session_id"], contextLength);
  }

  /** Number of the next model of this session, from 0. */
  nextModel(): number {
    return this.#models++;
  }

  /** Number of the next sampling session of this session, from 0. */
  nextSampler(): number {
    return this.#samplers++;
  }

  /** Ends the heartbeats; the server frees the session's models later. */
  close(): void {
    clearInterval(this.#timer);
  }

  async #beat(): Promise<void> {
    const { connection } = this;
    if (this.#beating) return;
    this.#beating = true;
    try {
      await connection.call("/api/v1/session_heartbeat", { session_id: this.id, type: "session_heartbeat" }, { what: "A heartbeat", repeat: "never", timeoutMs: 10_000 });
      this.#missedMs = 0;
    } catch (error) {
      // A missed heartbeat ends nothing by itself: the operations find out what is wrong.
      const before = this.#missedMs;
      this.#missedMs += connection.timing.heartbeatMs;
      const gone = failureOf(error)?.status === 404;
      if (gone) this.close();
      if (gone || (before < silenceMs && this.#missedMs >= silenceMs)) connection.notice(gone ? "The server no longer knows this session: its models are gone. Resume the run to go on from its last checkpoint." : `No heartbeat has reached the server for ${Math.round(this.#missedMs / 1000)} s.`);
    } finally {
      this.#beating = false;
    }
  }
}

/** The context length that the server names for the model. @throws SpadeError policy.model when it names others only */
export async function checkModel(connection: Connection, baseModel: string): Promise<number | undefined> {
  const answer = await connection.get("/api/v1/get_server_capabilities", { what: "Asking what the server serves" });
  const models = Array.isArray(answer["supported_models"]) ? answer["supported_models"].filter(isRecord) : [];
  const found = models.find(({ model_name: name }) => name === baseModel);
  if (found === undefined && models.length > 0) {
    const names = models.map(({ model_name: name }) => String(name));
    throw new SpadeError("policy.model", `The server does not serve the model "${baseModel}"; it serves ${names.join(", ")}. Set policy.model to one of these, letter by letter.`, { details: { baseModel, names } });
  }
  const length = found?.["max_context_length"];
  return typeof length === "number" ? length : undefined;
}
