import type { Outputs } from "./graph.ts";
import { Session } from "./session.ts";

/** Compiled graphs by name. Each holds working memory, so only the `limit` most recently used are kept. */
export class SessionCache {
  readonly #sessions = new Map<string, Session>();
  readonly #threads: number;
  readonly #limit: number;

  constructor(options: { threads: number; limit: number }) {
    this.#threads = options.threads;
    this.#limit = options.limit;
  }

  /** The session of that name, compiled from `build` if need be. */
  async get(name: string, build: () => Outputs): Promise<Session> {
    const session = this.#sessions.get(name) ?? (await Session.create(build(), this.#threads));
    this.#sessions.delete(name);
    this.#sessions.set(name, session);
    for (const [oldest, old] of this.#sessions) {
      if (this.#sessions.size <= this.#limit) break;
      this.#sessions.delete(oldest);
      await old.release();
    }
    return session;
  }
}
