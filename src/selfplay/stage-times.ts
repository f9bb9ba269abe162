import type { Listener } from "./events.ts";

/** Adds up how long each stage of an iteration took, from its events. */
export class StageTimes {
  readonly #seconds = new Map<string, number>();

  /** A listener that takes the times and passes everything on. */
  listening(next: Listener): Listener {
    return (event) => {
      if (event.kind === "stage" && event.done === event.total) this.#seconds.set(event.stage, (this.#seconds.get(event.stage) ?? 0) + event.seconds);
      next(event);
    };
  }

  /** Milliseconds by stage: `designMs`, `playMs` and so on. */
  timing(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.#seconds].map(([stage, seconds]) => [`${stage}Ms`, Math.round(seconds * 1000)]));
  }
}
