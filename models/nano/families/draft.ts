import type { GameSkill } from "../../../src/core/role.ts";
import type { Rng } from "../../../src/core/seed.ts";
import type { State } from "../python/game.ts";
import type { Ground } from "./ground.ts";

/** What a family draws from while it makes a program. */
export interface Context {
  readonly rng: Rng;
  readonly ground: Ground;
  /** 1 (easiest) to 4. */
  readonly level: number;
  /** How the program refers to a drawn value: `self.x`, or `x` when the answer is worked out inside `reset`. */
  readonly v: (name: string) => string;
}

/** One turn of a player that plays to win with what it has seen. */
export interface Move {
  readonly work: string;
  readonly action: string;
}

/** Called with each later observation (undefined on the first turn). */
export type Player = (observation: string | undefined) => Move;

interface DraftBase {
  /** Names for the class. */
  readonly suffixes: readonly string[];
  /** The words of the passage that the game is about, the main one first. */
  readonly heads: readonly string[];
  /** Statements of `reset` that draw the state. */
  readonly draw: readonly string[];
  /** Text of the first observation, sentence by sentence; braces hold Python expressions. */
  readonly sentences: readonly string[];
  /** Sentences that give the hint. */
  readonly hints: readonly string[];
}

/** A game of one turn. */
export interface SingleDraft extends DraftBase {
  readonly kind: "single";
  /** Statements needed before `expression` can be read. */
  readonly prepare?: readonly string[];
  /** Python expression of the answer. */
  readonly expression: string;
  readonly answer: "number" | "word" | "list";
  /** Working steps, ending with the answer's derivation; "" when there is nothing to work out. */
  readonly work: (state: Reader) => string;
  /** Words to choose a wrong answer from. */
  readonly options?: (state: Reader) => readonly string[];
}

/** A game of several turns. */
export interface MultiDraft extends DraftBase {
  readonly kind: "multi";
  readonly maxTurns: number;
  /** Form of an action, for the hint. */
  readonly format: string;
  readonly step: readonly string[];
  readonly solution: readonly string[];
  readonly player: (state: Reader) => Player;
  /** An action in the right form without thought. */
  readonly guess: (state: Reader, rng: Rng) => string;
}

export type Draft = SingleDraft | MultiDraft;

export interface Family {
  readonly name: string;
  readonly skill: GameSkill;
  readonly draft: (context: Context) => Draft;
}

/** Typed access to a game's state by name; a name never carries `self.`. */
export interface Reader {
  number(name: string): number;
  text(name: string): string;
  numbers(name: string): number[];
  texts(name: string): string[];
  list(name: string): unknown[];
}

export function reader(state: State): Reader {
  return {
    number: (name) => Number(state.get(name)),
    text: (name) => String(state.get(name)),
    numbers: (name) => [...(state.get(name) as number[])],
    texts: (name) => [...(state.get(name) as string[])],
    list: (name) => [...(state.get(name) as unknown[])],
  };
}

/** Picks a wording and replaces `<slot>`s in it. */
export function say(rng: Rng, wordings: readonly string[], slots: Readonly<Record<string, string | number>> = {}): string {
  return rng.pick(wordings).replace(/<(\w+)>/g, (whole, slot: string) => String(slots[slot] ?? whole));
}

/** Statements that draw `names.length` whole numbers in [low, high] in one of several idioms. */
export function drawNumbers({ rng, v }: Context, names: readonly string[], low: number, high: number): string[] {
  const targets = names.map(v).join(", ");
  const one = `r.randint(${low}, ${high})`;
  if (names.length === 1) return [`${targets} = ${rng.pick([one, one, one, one, one, one, `r.randrange(${low}, ${high + 1})`, `r.choice(range(${low}, ${high + 1}))`])}`];
  switch (rng.pick([0, 1, 1, 1, 1, 2, 3, 4])) {
    case 0:
      return names.map((name) => `${v(name)} = ${one}`);
    case 1:
      return [`${targets} = ${names.map(() => one).join(", ")}`];
    case 2:
      return [`${targets} = [${one} for _ in range(${names.length})]`];
    case 3:
      return high - low < names.length + 2 ? [`${targets} = ${names.map(() => one).join(", ")}`] : [`${targets} = r.sample(range(${low}, ${high + 1}), ${names.length})`];
    default:
      return names.map((name) => `${v(name)} = r.randrange(${low}, ${high + 1})`);
  }
}

/** A grounded constant: in place, or named by a statement of `reset`. */
export interface Constant {
  readonly draw: readonly string[];
  /** In Python code. */
  readonly code: string;
  /** Inside a text. */
  readonly text: string;
}

/** Writes a constant in place or gives it a name. */
export function constant(rng: Rng, reference: string, value: number): Constant {
  if (rng.chance(0.8)) return { draw: [], code: String(value), text: String(value) };
  return { draw: [`${reference} = ${value}`], code: reference, text: `{${reference}}` };
}

/** Names for `count` values, one style per program. */
export function names(rng: Rng, count: number): string[] {
  const styles = ["a b c d e f g", "x y z w u t s", "n m k p q j i"];
  return (rng.chance(0.7) ? styles[0] ?? "" : rng.pick(styles)).split(" ").slice(0, count);
}

/** A Python list of words. */
export function wordList(words: readonly string[]): string {
  return `[${words.map((word) => `"${word}"`).join(", ")}]`;
}
