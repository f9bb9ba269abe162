import { same } from "./answers.ts";
import { Random } from "./random.ts";

/** What `reset` returns. */
export interface Shown {
  readonly observation: string;
  readonly info: object;
}

/** What `step` returns. */
export interface Stepped extends Shown {
  readonly reward: number;
  readonly terminated: boolean;
  readonly truncated: boolean;
}

/**
 * Base of text games: counts turns, makes the step values, keeps a private random source. The same as in `runtime.py`.
 * A subclass defines `reset(seed)` (begin with `this.start(seed)`, end with `return this.show(text)`) and `step(action)`
 * (return `this.tell(...)`, `this.judge(...)` or `this.finish(...)`).
 */
export class TextGame {
  maxTurns = 1;
  turn = 0;
  rng = new Random(0);

  /** Begins an episode: zeroes the turn counter and returns a random source seeded with `seed`. */
  start(seed: number): Random {
    this.turn = 0;
    this.rng = new Random(seed);
    return this.rng;
  }

  show(text: string): Shown {
    return { observation: text, info: {} };
  }

  /** Counts a turn and goes on; truncates at `maxTurns`. */
  tell(text: string): Stepped {
    this.turn++;
    return { observation: text, reward: 0, terminated: false, truncated: this.turn >= this.maxTurns, info: {} };
  }

  /** Ends the episode: 1 if the action is the answer, else 0. */
  judge(action: string, answer: unknown, text?: string): Stepped {
    const won = same(action, answer);
    return this.finish(won, text ?? (won ? "Correct." : "Wrong."));
  }

  /** Ends the episode with 1 or 0. */
  finish(won: boolean, text = ""): Stepped {
    this.turn++;
    return { observation: text, reward: won ? 1 : 0, terminated: true, truncated: false, info: {} };
  }
}
