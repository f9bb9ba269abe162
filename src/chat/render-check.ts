import type { Episode } from "../core/episode.ts";
import { SpadeError } from "../core/errors.ts";
import { deriveSeed, Rng } from "../core/seed.ts";
import type { Segment } from "../core/trajectory.ts";
import { observationOf, type Opening, type Rendered, type Renderer } from "./renderer.ts";

export interface RenderCheck {
  readonly renderer: Renderer;
  /** What an episode's conversation opened with, when its first observation was this. */
  readonly opening: (episode: Episode, observation: string) => Opening;
  /** Share of the episodes to check, in [0, 1]; which ones follows from `seed`. */
  readonly share: number;
  readonly seed: number;
}

/**
 * Renders a share of recorded episodes again, from their text, and compares every token that the policy was given with the
 * record; what it sampled is decoded and compared with the recorded response. Returns the number of episodes checked.
 * @throws chat.replay at the first difference, with its place in `details`
 */
export function checkRendering(episodes: readonly Episode[], check: RenderCheck): number {
  const chosen = episodes.filter(({ id }) => new Rng(deriveSeed(check.seed, "render-check", id)).chance(check.share));
  for (const episode of chosen) checkEpisode(episode, check);
  return chosen.length;
}

function checkEpisode(episode: Episode, { renderer, opening }: RenderCheck): void {
  const { trajectory, turns } = episode;
  let rendered: Rendered | undefined;
  let turn = 0;
  for (const [position, segment] of trajectory.segments.entries()) {
    const place = { episode: episode.id, turn, segment: position };
    if (segment.kind === "sampled") {
      const response = renderer.text(segment.tokens);
      const recorded = turns[turn]?.response;
      // A turn that failed before its action was taken left no record.
      if (recorded !== undefined && recorded !== response) throw mismatch(place, `the sampled tokens decode to ${quoted(response)}, recorded is ${quoted(recorded)}`);
      turn++;
      continue;
    }
    rendered = position === 0 ? begun(episode, { renderer, opening }) : replied(episode, { rendered, position, turn });
    // What the environment showed last stays unrecorded when no turn followed it.
    if (rendered === undefined) return;
    compare(place, { segment, again: rendered.segment, renderer });
  }
}

function begun(episode: Episode, { renderer, opening }: Pick<RenderCheck, "renderer" | "opening">): Rendered | undefined {
  const observation = episode.turns[0]?.observation;
  return observation === undefined ? undefined : renderer.begin(opening(episode, observation));
}

/** The conversation after the sampled segment before `position`; absent where the record has no observation for it. */
function replied({ trajectory, turns }: Episode, at: { readonly rendered: Rendered | undefined; readonly position: number; readonly turn: number }): Rendered | undefined {
  const sampled = trajectory.segments[at.position - 1];
  const [before, after] = [turns[at.turn - 1], turns[at.turn]];
  if (sampled?.kind !== "sampled" || before === undefined || after === undefined) return undefined;
  return at.rendered?.reply(sampled.tokens, [observationOf(before, after.observation)]);
}

interface Place {
  readonly episode: string;
  /** Turn from 0. */
  readonly turn: number;
  /** Index into the trajectory's segments. */
  readonly segment: number;
}

function compare(place: Place, { segment, again, renderer }: { readonly segment: Segment; readonly again: Segment; readonly renderer: Renderer }): void {
  if (segment.kind !== again.kind) throw mismatch(place, `the record has a segment of kind ${segment.kind}, rendering again gives ${again.kind}`);
  const [recorded, rendered] = [segment.tokens, again.tokens];
  const length = Math.max(recorded.length, rendered.length);
  for (let token = 0; token < length; token++) {
    if (recorded[token] === rendered[token]) continue;
    const shown = (tokens: Int32Array): string => (token < tokens.length ? `${tokens[token] ?? ""} in ${quoted(renderer.text(tokens.slice(Math.max(0, token - 8), token + 8)))}` : "missing");
    throw mismatch({ ...place, token }, `token ${token} of its ${segment.kind} is ${shown(recorded)} in the record and ${shown(rendered)} when it is rendered again`);
  }
}

function mismatch(place: Place & { readonly token?: number }, what: string): SpadeError {
  const { episode, turn } = place;
  return new SpadeError(
    "chat.replay",
    `Turn ${turn} of episode ${episode} does not render as it was recorded: ${what}. The policy would be trained on other tokens than a chat with it has. ` +
      `Restore the tokenizer, template and prompts that the run began with, or start a new run.`,
    { details: { ...place } },
  );
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}
