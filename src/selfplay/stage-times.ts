import type { Listener, Stage } from "./events.ts";

/** Of one stage: seconds of the parts that are over, and of the one whose seconds still grow. */
interface StageTime {
  readonly before: number;
  readonly now: number;
}

/** Adds up how long the stages of each iteration took, from their events: what the last one of a stage says. Stages may overlap. */
export class StageTimes {
  readonly #iterations = new Map<number, Map<Stage, StageTime>>();

  /** A listener that takes the times and passes everything on. */
  listening(next: Listener): Listener {
    return (event) => {
      if (event.kind === "stage") this.#add(event);
      next(event);
    };
  }

  /** Milliseconds by stage of an iteration that is over: `designMs`, `playMs` and so on. */
  take(iteration: number): Readonly<Record<string, number>> {
    const stages = this.#iterations.get(iteration) ?? [];
    this.#iterations.delete(iteration);
    return Object.fromEntries([...stages].map(([stage, { before, now }]) => [`${stage}Ms`, Math.round((before + now) * 1000)]));
  }

  #add({ iteration, stage, seconds }: { readonly iteration: number; readonly stage: Stage; readonly seconds: number }): void {
    const stages = this.#iterations.get(iteration) ?? new Map<Stage, StageTime>();
    this.#iterations.set(iteration, stages);
    const { before, now } = stages.get(stage) ?? { before: 0, now: 0 };
    // A stage that comes more than once, as evaluation does, counts from 0 each time.
    stages.set(stage, seconds < now ? { before: before + now, now: seconds } : { before, now: seconds });
  }
}
