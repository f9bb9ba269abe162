import type { Listener, RunEvent, Stage } from "../selfplay/events.ts";
import { decimal, duration, pair, percent, plusMinus } from "./format.ts";
import { spentLines } from "./spending.ts";

/** Where a view writes and how it learns the time. */
export interface ViewOptions {
  readonly write: (text: string) => void;
  /** Seconds since the command started. */
  readonly elapsed: () => number;
  readonly columns: number;
}

/** One JSON object a line: for programs. */
export function jsonView(options: ViewOptions): Listener {
  return (event) => options.write(`${JSON.stringify(event)}\n`);
}

/** One line per stage and iteration: for logs and pipes. */
export function plainView(options: ViewOptions): Listener {
  const progress = new Progress();
  let reported = -Infinity;
  return (event) => {
    progress.receive(event);
    if (event.kind === "stage") {
      const now = options.elapsed();
      if (event.done < event.total || now - reported < 5) return;
      reported = now;
    }
    const line = describe(event, progress, options.elapsed());
    if (line !== undefined) options.write(`${line}\n`);
  };
}

/** A block of lines that redraws itself: for terminals. Finished iterations scroll away above it. */
export function liveView(options: ViewOptions): Listener {
  const progress = new Progress();
  let drawn = 0;
  let at = -Infinity;
  return (event) => {
    progress.receive(event);
    const now = options.elapsed();
    if (event.kind === "stage" && event.done < event.total && now - at < 0.2) return;
    at = now;
    const erase = drawn > 0 ? `\u001b[${drawn}A\u001b[J` : "";
    const line = event.kind === "stage" ? undefined : describe(event, progress, now);
    const block = event.kind === "end" || event.kind === "spent" ? [] : progress.block(now).map((text) => text.slice(0, options.columns - 1));
    drawn = block.length;
    options.write(erase + (line === undefined ? "" : `${line}\n`) + block.map((text) => `${text}\n`).join(""));
  };
}

/** What the views know of a run so far. */
class Progress {
  private start: Extract<RunEvent, { kind: "start" }> | undefined;
  private stage: Extract<RunEvent, { kind: "stage" }> | undefined;
  private last: Extract<RunEvent, { kind: "iteration" }> | undefined;
  private held: Extract<RunEvent, { kind: "evaluation" }> | undefined;
  private readonly durations: number[] = [];
  /** Of all iterations of this process. */
  private readonly mutants = { judged: 0, admitted: 0 };

  receive(event: RunEvent): void {
    switch (event.kind) {
      case "start":
        this.start = event;
        return;
      case "stage":
        this.stage = event;
        return;
      case "iteration":
        this.last = event;
        this.durations.push(event.seconds);
        this.mutants.judged += event.metrics.mutants ?? 0;
        this.mutants.admitted += event.metrics.mutantsAdmitted ?? 0;
        return;
      case "evaluation":
        this.held = event;
        return;
      case "notice":
      case "end":
      case "spent":
        return;
    }
  }

  /** Seconds left, from the median of the last ten iterations. */
  left(): number | undefined {
    if (this.start === undefined || this.durations.length === 0) return undefined;
    const recent = this.durations.slice(-10).sort((a, b) => a - b);
    const done = this.start.from + this.durations.length;
    return (recent[Math.floor(recent.length / 2)] ?? 0) * (this.start.iterations - done);
  }

  block(now: number): string[] {
    if (this.start === undefined) return [];
    const stage = this.stage;
    const rate = stage === undefined || stage.seconds <= 0 ? undefined : stage.tokens / stage.seconds;
    const left = this.left();
    const metrics = this.last?.metrics;
    return [
      `iteration ${stage?.iteration ?? this.start.from} of ${this.start.iterations}   ${stageText(stage)}   ${rate === undefined || rate === 0 ? "" : `${Math.round(rate)} tokens/s`}`,
      `${duration(now)} so far${left === undefined ? "" : `, about ${duration(left)} left`}`,
      `r_plain ${decimal(metrics?.rPlain)}   r_hint ${decimal(metrics?.rHint)}   regret ${plusMinus(metrics?.regret)}   learnable ${percent(metrics?.learnableShare)}   admitted ${metrics === undefined ? "–" : `${metrics.admitted}/${metrics.candidates}`}${mutantText(this.mutants)}`,
      heldOut(this.held),
    ];
  }
}

const stageNames: Record<Stage, string> = {
  prepare: "preparing",
  design: "designing",
  gates: "gates",
  hints: "hints",
  mutants: "mutants",
  play: "playing",
  update: "updating",
  checkpoint: "saving",
  evaluate: "evaluating",
};

function stageText(stage: Extract<RunEvent, { kind: "stage" }> | undefined): string {
  return stage === undefined ? "starting" : `${stageNames[stage.stage]} ${stage.done}/${stage.total}`;
}

/** Nothing in a run without mutants. */
function mutantText({ judged, admitted }: { readonly judged: number; readonly admitted: number }): string {
  return judged === 0 ? "" : `, of mutants ${admitted}/${judged}`;
}

function heldOut(event: Extract<RunEvent, { kind: "evaluation" }> | undefined): string {
  return event === undefined ? "not evaluated yet" : event.scores.map(({ suite, mode, rate }) => `${suite} ${mode} ${decimal(rate.winRate)} ${pair(rate.interval)}`).join("   ");
}

function describe(event: RunEvent, progress: Progress, now: number): string | undefined {
  switch (event.kind) {
    case "start":
      return [`run ${event.directory}: iterations ${event.from} to ${event.iterations}, configuration ${event.configDigest.slice(0, 12)}`, ...event.notes].join("\n");
    case "stage":
      return `${duration(now)}  iteration ${event.iteration}  ${stageText(event)}${event.tokens > 0 ? `  ${Math.round(event.tokens / Math.max(event.seconds, 1e-3))} tokens/s` : ""}`;
    case "iteration": {
      const { metrics } = event;
      const left = progress.left();
      return `${duration(now)}  iteration ${event.iteration}: r_plain ${decimal(metrics.rPlain)} r_hint ${decimal(metrics.rHint)} regret ${plusMinus(metrics.regret)} learnable ${percent(metrics.learnableShare)} admitted ${metrics.admitted}/${metrics.candidates}${mutantText({ judged: metrics.mutants ?? 0, admitted: metrics.mutantsAdmitted ?? 0 })} families ${metrics.families} designer ${decimal(metrics.designerReward)}  ${decimal(event.seconds, 1)} s${left === undefined ? "" : `, about ${duration(left)} left`}`;
    }
    case "evaluation":
      return `${duration(now)}  evaluation after ${event.iteration} iterations: ${heldOut(event)}`;
    case "notice":
      return `${duration(now)}  ${event.text}`;
    case "end":
      return `${duration(now)}  done: ${event.iterations} iterations in ${event.directory}, record ${event.digest.slice(0, 16)}`;
    case "spent":
      return spentLines(event.spent).join("\n");
  }
}
