import { SpadeError } from "../core/errors.ts";
import type { Program } from "../core/environment.ts";
import { defaultCacheDirectory, ensureImage } from "./image.ts";
import { Lane, type LaneStatistics } from "./lane.ts";
import { resolveLimits } from "./limits.ts";
import { LoadedProgram } from "./loaded-program.ts";
import type { GuestResult, Limits, ProgramHandle, Sandbox } from "./sandbox.ts";

export interface SandboxOptions {
  /** Number of children, one per core that may be used. */
  readonly lanes: number;
  /** Overrides of `defaultLimits`. */
  readonly limits?: Partial<Limits>;
  /** Where the interpreter image is kept; default `~/.cache/spade-rl`. */
  readonly cacheDirectory?: string;
}

/** A sandbox that also tells what happened in it. */
export interface ObservedSandbox extends Sandbox {
  /** Starts and program switches of each lane. */
  statistics(): readonly LaneStatistics[];
  /** Process ids of the children running now. */
  pids(): readonly number[];
}

/**
 * Opens a sandbox; builds the interpreter image when there is none for this version (a few seconds). Children start when
 * they are first needed. Close it: its children keep the process alive.
 * @throws sandbox.lanes, sandbox.limits, sandbox.image
 */
export async function openSandbox(options: SandboxOptions): Promise<ObservedSandbox> {
  const { lanes: count } = options;
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new SpadeError("sandbox.lanes", `A sandbox needs at least one lane, got ${String(count)}. Use the number of cores it may take.`);
  }
  const limits = resolveLimits(options.limits);
  const cacheDirectory = options.cacheDirectory ?? defaultCacheDirectory();
  const image = await ensureImage(cacheDirectory);
  return new Pool(Array.from({ length: count }, (_, index) => new Lane(index, image, limits)), limits);
}

class Pool implements ObservedSandbox {
  readonly limits: Limits;
  private readonly all: readonly Lane[];
  private nextKey = 1;
  private isClosed = false;

  constructor(lanes: readonly Lane[], limits: Limits) {
    this.all = lanes;
    this.limits = limits;
  }

  get lanes(): number {
    return this.all.length;
  }

  async open(program: Program, options: { readonly lane?: number } = {}): Promise<GuestResult<ProgramHandle>> {
    if (this.isClosed) throw new SpadeError("sandbox.closed", "The sandbox is closed. Open a new one.");
    const lane = options.lane === undefined ? this.leastLoaded() : this.all[options.lane];
    if (lane === undefined) {
      throw new SpadeError("sandbox.lane", `Lane ${String(options.lane)} does not exist; this sandbox has lanes 0 to ${this.all.length - 1}.`);
    }
    return new LoadedProgram({ key: this.nextKey++, program, lane, limits: this.limits }).open();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.all.map((lane) => lane.close()));
  }

  statistics(): readonly LaneStatistics[] {
    return this.all.map((lane) => ({ ...lane.statistics }));
  }

  pids(): readonly number[] {
    return this.all.flatMap((lane) => lane.pid ?? []);
  }

  private leastLoaded(): Lane | undefined {
    return this.all.reduce((best, lane) => (lane.tenantCount < best.tenantCount ? lane : best), this.all[0] as Lane);
  }
}
