import { setTimeout as sleep } from "node:timers/promises";
import { messageOf, SpadeError } from "../../core/errors.ts";
import { type HttpClient, jsonBody } from "../../http/client.ts";
import { type HttpFailure, httpFailure } from "../../http/failure.ts";
import { Gate } from "../../http/gate.ts";
import { failureCode } from "../failure-code.ts";
import { sessionHeader } from "../session-header.ts";
import type { Spending, Usage } from "./spending.ts";
import { Nonsense, readModels, type ServedModelEntry } from "./wire.ts";

export interface EndpointOptions {
  readonly http: HttpClient;
  readonly model: string;
  /** Requests in flight at once; halved on each 429, one more with each reply. */
  readonly maxConcurrent: number;
  readonly spending: Spending;
  /** Laid over the body of each request; null leaves a field out. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Before a request is repeated whose answer made no sense; doubles each time. Default: 1,000. */
  readonly nonsensePauseMs?: number;
}

/** What a reply is asked for by. */
interface Asked {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Conversation that the reply goes on with. */
  readonly session?: string;
  readonly signal: AbortSignal;
}

/** Answers without sense to one request, in a row, before it is given up. */
const maxNonsense = 3;

/** Requests to an endpoint of the OpenAI kind. All methods throw SpadeError `policy.*`. */
export class Endpoint {
  readonly model: string;
  readonly spending: Spending;
  readonly #http: HttpClient;
  readonly #gate: Gate;
  readonly #body: Readonly<Record<string, unknown>>;
  readonly #pauseMs: number;

  constructor({ http, model, maxConcurrent, spending, body = {}, nonsensePauseMs = 1000 }: EndpointOptions) {
    this.model = model;
    this.spending = spending;
    this.#http = http;
    this.#gate = new Gate(maxConcurrent);
    this.#body = body;
    this.#pauseMs = nonsensePauseMs;
  }

  /**
   * The model's own entry in the list of what is served; absent on a server without such a list.
   * @throws SpadeError policy.model when the list lacks it
   */
  async servedModel(): Promise<ServedModelEntry | undefined> {
    let served: readonly ServedModelEntry[];
    try {
      served = readModels(await this.#http.json({ method: "GET", path: "/models" }));
    } catch (error) {
      const failure = httpFailure(error);
      if (error instanceof Nonsense || failure?.kind === "format" || failure?.status === 404 || failure?.status === 405) return undefined;
      throw this.#error("Asking for the list of models", error);
    }
    if (served.length === 0) return undefined;
    const own = served.find(({ id }) => id === this.model);
    if (own !== undefined) return own;
    const names = served.map(({ id }) => id);
    throw new SpadeError("policy.model", `The endpoint ${this.#http.baseUrl} does not serve the model "${this.model}". Set policy.model to one of: ${names.slice(0, 20).join(", ")}${names.length > 20 ? `, … (${names.length} in all)` : ""}.`, { details: { served: names } });
  }

  /**
   * One reply, taken once however often it had to be asked for: waits for room, repeats what may help, counts what it took. `read` makes sense
   * of an answer or throws `Nonsense`. @throws SpadeError policy.*
   */
  reply<T extends { readonly usage?: Usage }>(asked: Asked, read: (answer: string) => T): Promise<T> {
    return this.#gate.run(async () => {
      this.spending.check();
      const reply = await this.#ask(asked, read);
      this.#gate.speedUp();
      this.spending.add(reply.usage);
      return reply;
    }, asked.signal);
  }

  async #ask<T>(asked: Asked, read: (answer: string) => T): Promise<T> {
    const { path, signal } = asked;
    const body = jsonBody(Object.fromEntries(Object.entries({ ...asked.body, ...this.#body }).filter(([, value]) => value !== null && value !== undefined)));
    for (let odd = 1; ; odd++) {
      try {
        const response = await this.#http.send({ method: "POST", path, body, headers: { accept: "text/event-stream, application/json", ...sessionHeader(asked) }, signal, onFailure: (failure) => this.#note(failure) });
        return read(new TextDecoder().decode(response.bytes));
      } catch (error) {
        const failure = httpFailure(error);
        if (failure !== undefined) this.#note(failure);
        if (!(error instanceof Nonsense)) throw this.#error("Sampling", error);
        this.spending.lose();
        if (odd === maxNonsense) throw new SpadeError(error.code, `Sampling failed: POST ${this.#http.baseUrl}${path} ${error.message} (${odd} times). Check that policy.baseUrl is that of an OpenAI-compatible API, and look at the server's log.`, { cause: error });
        await sleep(this.#pauseMs * 2 ** (odd - 1), undefined, { signal });
      }
    }
  }

  /** Learns from an attempt that failed. */
  #note({ kind, status = 0 }: HttpFailure): void {
    if (status === 429) this.#gate.slowDown();
    if (kind === "connection" || kind === "timeout" || status >= 500) this.spending.lose();
  }

  #error(what: string, error: unknown): unknown {
    const failure = httpFailure(error);
    if (failure === undefined) return error;
    const { status, body = "" } = failure;
    const unknown = (status === 404 || status === 400) && /model/i.test(body) && /not found|not exist|unknown|not a valid|invalid model|try pulling/i.test(body);
    const remedy = unknown ? ` Set policy.model to a name that GET ${this.#http.baseUrl}/models lists; it is "${this.model}" now.` : "";
    return new SpadeError(unknown ? "policy.model" : failureCode(failure), `${what} failed. ${messageOf(error)}${remedy}`, { details: { ...failure }, cause: error });
  }
}

/** Whether a request was refused because its prompt is longer than the model's context. */
export function isContextOverflow(error: unknown): boolean {
  const { status, body = "" } = (error instanceof SpadeError ? error.details : {}) as Partial<HttpFailure>;
  return (status === 400 || status === 413 || status === 422) && /context.{0,12}(length|window|size)|(prompt|input) is (too long|longer)|too many (input |prompt )?tokens|exceed_context/i.test(body);
}
