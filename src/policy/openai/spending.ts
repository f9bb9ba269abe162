import { SpadeError } from "../../core/errors.ts";

/** What a server says a reply took. */
export interface Usage {
  readonly inputTokens: number;
  /** Of `inputTokens`, those that the server had in its cache. */
  readonly cachedInputTokens: number;
  /** Thoughts included. */
  readonly outputTokens: number;
}

/** For a million tokens, in any currency. */
export interface Prices {
  readonly input: number;
  /** Default: as other input. */
  readonly cachedInput?: number;
  readonly output: number;
}

/** Of one process; input and output together. */
export interface Limit {
  readonly tokens?: number;
  readonly cost?: number;
}

/** What was spent so far. */
export interface Spent extends Usage {
  /** Replies that were taken. */
  readonly replies: number;
  /** Replies whose server did not say what they took; they are in no other number. */
  readonly unmeasured: number;
  /** Attempts that ended without a reply; a server may have begun them, and may charge for them. */
  readonly lost: number;
  /** Chats that were refused because they are longer than the model's context, the tokens asked for included. */
  readonly tooLong: number;
  /** Absent without prices. */
  readonly cost?: number;
}

/** Counts what the replies of one endpoint took, and stops when it is enough. */
export class Spending {
  readonly #model: string;
  readonly #prices: Prices | undefined;
  readonly #limit: Limit;
  readonly #total = { replies: 0, unmeasured: 0, lost: 0, tooLong: 0, inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };

  constructor({ model, prices, limit = {} }: { readonly model: string; readonly prices?: Prices; readonly limit?: Limit }) {
    this.#model = model;
    this.#prices = prices;
    this.#limit = limit;
  }

  get spent(): Spent {
    return { ...this.#total, ...(this.#prices === undefined ? {} : { cost: this.#cost(this.#prices) }) };
  }

  /** Counts a reply that was taken. @throws SpadeError policy.usage when there is a limit and the server does not say what it took */
  add(usage: Usage | undefined): void {
    const total = this.#total;
    total.replies += 1;
    if (usage === undefined) {
      total.unmeasured += 1;
      if (this.#limit.tokens === undefined && this.#limit.cost === undefined) return;
      throw new SpadeError("policy.usage", `The server does not say how many tokens a reply of ${this.#model} took (field \`usage\`), so its \`limit\` cannot be kept. Leave the limit out, or use an endpoint that says it.`);
    }
    total.inputTokens += usage.inputTokens;
    total.cachedInputTokens += usage.cachedInputTokens;
    total.outputTokens += usage.outputTokens;
  }

  /** Counts an attempt without a reply. */
  lose(): void {
    this.#total.lost += 1;
  }

  /** Counts a chat that was refused for its length. */
  refuse(): void {
    this.#total.tooLong += 1;
  }

  /** Refuses another request once the limit is reached. @throws SpadeError policy.budget */
  check(): void {
    const { tokens = Infinity, cost = Infinity } = this.#limit;
    const { inputTokens, outputTokens, cost: paid = 0 } = this.spent;
    const reached = inputTokens + outputTokens >= tokens ? `${inputTokens + outputTokens} tokens of at most ${tokens}` : paid >= cost ? `a cost of ${paid.toFixed(4)} of at most ${cost}` : undefined;
    if (reached === undefined) return;
    throw new SpadeError("policy.budget", `The limit for the model ${this.#model} is reached: ${reached}. Requests under way were finished and nothing more was asked. What was recorded before stays; raise its \`limit\` to go on.`, { details: { spent: this.spent } });
  }

  #cost({ input, cachedInput = input, output }: Prices): number {
    const { inputTokens, cachedInputTokens, outputTokens } = this.#total;
    return ((inputTokens - cachedInputTokens) * input + cachedInputTokens * cachedInput + outputTokens * output) / 1e6;
  }
}
