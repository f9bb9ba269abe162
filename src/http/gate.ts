/** Bounds how many tasks run at once, first come first served; the bound falls when a server pushes back and recovers. */
export class Gate {
  readonly #most: number;
  #limit: number;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(most: number) {
    this.#most = most;
    this.#limit = most;
  }

  /** Tasks that may run at once now. */
  get limit(): number {
    return this.#limit;
  }

  /** Tasks that run now. */
  get running(): number {
    return this.#running;
  }

  /** Runs a task when there is room. A task that waits when `signal` aborts does not start. */
  async run<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    while (this.#running >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (signal?.aborted === true) {
      this.#waiting.shift()?.();
      signal.throwIfAborted();
    }
    this.#running += 1;
    try {
      return await task();
    } finally {
      this.#running -= 1;
      this.#admit();
    }
  }

  /** The server asked for less: half as many at once, at least one. */
  slowDown(): void {
    this.#limit = Math.max(1, Math.floor(Math.min(this.#limit, this.#running) / 2));
  }

  /** A task went well: one more at once, up to the bound it began with. */
  speedUp(): void {
    this.#limit = Math.min(this.#most, this.#limit + 1);
    this.#admit();
  }

  #admit(): void {
    for (let free = this.#limit - this.#running; free > 0 && this.#waiting.length > 0; free--) this.#waiting.shift()?.();
  }
}
