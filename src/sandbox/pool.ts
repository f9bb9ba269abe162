import { SpadeError } from "../core/errors.ts";
import { type Program, programId } from "../core/environment.ts";
import { defaultCacheDirectory, ensureImage, type Image, pyodideVersion, withParent } from "./image.ts";
import { Lane, type LaneStatistics } from "./lane.ts";
import { maxKnownPrograms, resolveLimits } from "./limits.ts";
import { LoadedProgram } from "./loaded-program.ts";
import { type KnownPace, unknownPace } from "./pace.ts";
import { Seat, Spare } from "./seat.ts";
import type { GuestResult, Limits, OpenOptions, ProgramHandle, Sandbox } from "./sandbox.ts";
import { type BubblewrapState, type BubblewrapUse, chooseBubblewrap, type Isolation, permissionGaps } from "./second-layer.ts";

export interface SandboxOptions {
  /** Number of children, one per core that may be used. */
  readonly lanes: number;
  /** Overrides of `defaultLimits`. */
  readonly limits?: Partial<Limits>;
  /** Where the interpreter image is kept; default `~/.cache/spade-rl`. */
  readonly cacheDirectory?: string;
  /** Default: `auto`, where it works. */
  readonly bubblewrap?: BubblewrapUse;
  /** Where bubblewrap may be, for tests. Default: where Linux distributions put it. */
  readonly bubblewrapPaths?: readonly string[];
}

/** A sandbox that also tells what happened in it. */
export interface ObservedSandbox extends Sandbox {
  /** What stands between an escaped program and this machine. */
  readonly isolation: Isolation;
  /** Starts and program switches of each lane; the last is the lane of slow programs. */
  statistics(): readonly LaneStatistics[];
  /** Process ids of the children running now. */
  pids(): readonly number[];
}

/**
 * Opens a sandbox; builds the interpreter image when there is none for this version (a few seconds). Children start when
 * they are first needed. Close it: its children keep the process alive.
 * @throws sandbox.lanes, sandbox.limits, sandbox.node, sandbox.bubblewrap, sandbox.image
 */
export async function openSandbox(options: SandboxOptions): Promise<ObservedSandbox> {
  const { lanes: count } = options;
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new SpadeError("sandbox.lanes", `A sandbox needs at least one lane, got ${String(count)}. Use the number of cores it may take.`);
  }
  const limits = resolveLimits(options.limits);
  const cacheDirectory = options.cacheDirectory ?? defaultCacheDirectory();
  const gaps = permissionGaps();
  const [image, bubblewrap] = await Promise.all([ensureImage(cacheDirectory), chooseBubblewrap(options.bubblewrap ?? "auto", options.bubblewrapPaths)]);
  const newSeat = (givesWay: boolean): Seat => new Seat({ image, limits, bubblewrap, givesWay });
  return new Pool({ count, newSeat, limits, isolation: isolationOf(image, bubblewrap, gaps) });
}

function isolationOf(image: Image, bubblewrap: BubblewrapState, gaps: readonly string[]): Isolation {
  const { platform, arch, version } = process;
  return {
    permissionMode: true,
    permissionGaps: gaps,
    bubblewrap,
    diesWithParent: withParent !== undefined || bubblewrap.active,
    platform,
    arch,
    node: version,
    pyodide: pyodideVersion(),
    imageSha256: image.sha256,
  };
}

class Pool implements ObservedSandbox {
  readonly limits: Limits;
  readonly isolation: Isolation;
  private readonly all: readonly Lane[];
  /** A lane of its own for programs whose calls are slow; its child starts when there is one. */
  private readonly slowLane: Lane;
  /** Of the lanes, and the spare one, whose child starts when one has been lost or handed over. */
  private readonly seats: readonly Seat[];
  private readonly known = new Map<string, KnownPace>();
  private lastKey = 0;
  private isClosed = false;

  constructor({ count, newSeat, limits, isolation }: { readonly count: number; readonly newSeat: (givesWay: boolean) => Seat; readonly limits: Limits; readonly isolation: Isolation }) {
    const [spareSeat, slowSeat, ...seats] = [newSeat(false), newSeat(true), ...Array.from({ length: count }, () => newSeat(false))] as const;
    this.slowLane = new Lane(count, slowSeat);
    const relief = { spare: new Spare(spareSeat), slow: this.slowLane };
    this.all = seats.map((seat, index) => new Lane(index, seat, relief));
    this.seats = [...seats, slowSeat, spareSeat];
    this.limits = limits;
    this.isolation = isolation;
  }

  get lanes(): number {
    return this.all.length;
  }

  async open(program: Program, options: OpenOptions = {}): Promise<GuestResult<ProgramHandle>> {
    if (this.isClosed) throw new SpadeError("sandbox.closed", "The sandbox is closed. Open a new one.");
    const lane = options.lane === undefined ? this.leastLoaded() : this.all[options.lane];
    if (lane === undefined) {
      throw new SpadeError("sandbox.lane", `Lane ${String(options.lane)} does not exist; this sandbox has lanes 0 to ${this.all.length - 1}.`);
    }
    const newKey = (): number => ++this.lastKey;
    return new LoadedProgram({ key: newKey(), program, lane, isUrgent: options.urgent === true, slowLane: this.slowLane, limits: this.limits, known: this.knownOf(program), newKey }).open();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    // First the lanes: what is under way must know why its child dies.
    await Promise.all([...this.all, this.slowLane, ...this.seats].map((one) => one.close()));
  }

  statistics(): readonly LaneStatistics[] {
    return [...this.all, this.slowLane].map((lane) => ({ ...lane.statistics }));
  }

  pids(): readonly number[] {
    return this.seats.flatMap((seat) => seat.pid ?? []);
  }

  private knownOf(program: Program): KnownPace {
    const id = programId(program);
    const known = this.known.get(id) ?? unknownPace();
    // The most recently opened program is the last of the map.
    this.known.delete(id);
    this.known.set(id, known);
    const [oldest] = this.known.keys();
    if (this.known.size > maxKnownPrograms && oldest !== undefined) this.known.delete(oldest);
    return known;
  }

  private leastLoaded(): Lane | undefined {
    return this.all.reduce((best, lane) => (lane.tenantCount < best.tenantCount ? lane : best), this.all[0] as Lane);
  }
}
