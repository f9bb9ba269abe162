/** Lanes for work that comes bit by bit: each piece has a lane of its own while it lasts, the first that is free, in order of asking. */
export class Lanes {
  readonly #free: number[];
  readonly #waiting: ((lane: number) => void)[] = [];

  constructor(lanes: number) {
    this.#free = Array.from({ length: lanes }, (_, lane) => lane);
  }

  async run<R>(work: (lane: number) => Promise<R>): Promise<R> {
    const lane = this.#free.shift() ?? (await new Promise<number>((resolve) => this.#waiting.push(resolve)));
    try {
      return await work(lane);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
    }
  }
}

/** Maps items in order of taking, one at a time per lane. */
export function overLanes<T, R>(lanes: number, items: readonly T[], work: (item: T, lane: number) => Promise<R>): Promise<R[]> {
  const shared = new Lanes(lanes);
  return Promise.all(items.map((item) => shared.run((lane) => work(item, lane))));
}
