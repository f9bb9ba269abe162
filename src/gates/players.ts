import type { ActionForm } from "../core/environment.ts";
import type { Player } from "./probe.ts";
import { isNumber, isWord, listedOptions, textTokens } from "./text.ts";
import { answering, everyTool } from "./tool-players.ts";

/** A player no learning is needed for. */
export interface TrivialPolicy {
  readonly id: string;
  readonly player: Player;
}

/** A random choice among everything the text names: listed options, words, numbers. */
export const namedActionPlayer: Player = ({ observation, rng }) => {
  const kinds = [listedOptions(observation), words(observation), numbers(observation)].filter((items) => items.length > 0);
  return kinds.length === 0 ? "0" : rng.pick(rng.pick(kinds));
};

const constants = ["0", "1", "2", "a", "b", "yes", "no", "true", "done"];

/** Every whole number from -999 to 999: wins where the check only looks for the answer in the action. */
const everyNumber = Array.from({ length: 1000 }, (_, i) => `${i} -${i}`).join(" ");

/**
 * The trivial policies of gate `not-trivial`; they play multi-turn games to the end, each turn from that turn's text.
 * In tool-use programs (`form` is `tools`) they speak in answers, one calls every tool, and one says the same
 * idle thing over and over. `memorised` is another seed's
 * solution (gates.md, the constant answer).
 */
export function trivialPolicies(memorised: readonly string[] | undefined, form: ActionForm): TrivialPolicy[] {
  const plain = plainPolicies();
  return [
    ...(form === "boxed" ? plain : [...plain.map(({ id, player }) => ({ id, player: answering(player) })), { id: "every tool", player: everyTool }, { id: "constant text", player: () => "0" }]),
    ...(memorised === undefined ? [] : [{ id: "memorised solution", player: (({ turn }) => memorised[turn] ?? memorised.at(-1)) satisfies Player }]),
  ];
}

function plainPolicies(): TrivialPolicy[] {
  const fixed = constants.map((text): TrivialPolicy => ({ id: `constant ${text}`, player: () => text }));
  return [
    { id: "random option", player: ({ observation, rng }) => pickOr(listedOptions(observation), rng) },
    { id: "random word", player: ({ observation, rng }) => pickOr(words(observation), rng) },
    { id: "random number", player: ({ observation, rng }) => pickOr(numbers(observation), rng) },
    { id: "random digit", player: ({ rng }) => String(rng.int(0, 9)) },
    ...fixed,
    { id: "count up", player: ({ turn }) => String(turn + 1) },
    { id: "echo", player: ({ observation }) => observation.slice(0, 2000) },
    { id: "every number", player: () => everyNumber },
    { id: "last number", player: ({ observation }) => numbers(observation).at(-1) ?? "0" },
    { id: "first number", player: ({ observation }) => numbers(observation)[0] ?? "0" },
    { id: "first word", player: ({ observation }) => words(observation)[0] ?? "" },
    { id: "last word", player: ({ observation }) => words(observation).at(-1) ?? "" },
    { id: "first option", player: ({ observation }) => listedOptions(observation)[0] ?? "" },
    { id: "last option", player: ({ observation }) => listedOptions(observation).at(-1) ?? "" },
  ];
}

function words(text: string): string[] {
  return textTokens(text).filter(isWord);
}

function numbers(text: string): string[] {
  return textTokens(text).filter(isNumber);
}

function pickOr(items: readonly string[], rng: { pick: <T>(items: readonly T[]) => T }): string {
  return items.length === 0 ? "0" : rng.pick(items);
}
