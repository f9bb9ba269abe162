import { SpadeError } from "../core/errors.ts";
import type { Beginning } from "./beginning.ts";
import type { Dependencies } from "./dependencies.ts";
import { sampleIteration } from "./iteration.ts";
import type { SampledWindow } from "./window.ts";

/**
 * Samples iterations; with `update.asynchronous` each is begun while the one before is updated and committed. What was sampled ahead is in
 * memory only until then, so a run that is killed loses samples and never an update.
 */
export class SamplingAhead implements AsyncDisposable {
  readonly #deps: Dependencies;
  readonly #stop = new AbortController();
  /** Of the iteration that comes next. */
  #ahead: Promise<SampledWindow> | undefined;

  constructor(deps: Dependencies) {
    this.#deps = deps;
  }

  /** Begins to sample an iteration, if the configuration has it and lets it be sampled ahead. */
  begin(beginning: Beginning): void {
    const { run, update } = this.#deps.config;
    if (!update.asynchronous || beginning.iteration > run.iterations) return;
    this.#ahead = sampleIteration(beginning, this.#deps, this.#stop.signal);
    // Until the iteration's turn comes nobody waits for it, and a failure is met then.
    this.#ahead.catch(() => undefined);
  }

  /** The samples of the next iteration, begun now if they were not before. */
  sample(beginning: Beginning): Promise<SampledWindow> {
    const sampled = this.#ahead ?? sampleIteration(beginning, this.#deps);
    this.#ahead = undefined;
    return sampled;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new SpadeError("policy.aborted", "Sampling was given up because the iteration before it failed."));
    await this.#ahead?.catch(() => undefined);
  }
}
