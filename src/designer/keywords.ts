import { deriveSeed, Rng } from "../core/seed.ts";

const determiners = new Set("the a an each every its their his her one two three four any no some this that another".split(" "));
const after = new Set(
  `is are was were has had have of in on at to for from with and or but that which who can must may will when if as by into onto through over under near than so
  stops comes goes takes makes holds gives needs runs`.split(/\s+/),
);

/** Words that steer games; never used as names of things. */
export const steeringWords: ReadonlySet<string> = new Set(
  `answer fix test press open close left right north south east west up down add higher lower high low before after first last word number none turn
  steps step places cell cells far near pair`.split(/\s+/),
);

/** Words that name nothing. */
const empty = new Set(
  `one two three four other others same next way kind sort part time times thing things rest half end name few lot little large small long short great only more most
  less least much many such both very each every another it them him her who which what while there here once again then now too not also and the for with
  from this that these those have has had are was were is be been can may must will side back front together top bottom middle seems rather slowly`.split(/\s+/),
);

/** How many keywords a passage gives at most. */
const most = 8;

/**
 * Nouns that a program about `text` can name things with, at most 8, as they follow each other in the text from a place on that `key`
 * decides, the first again after the last. A guess from the words around: an article before and a function word or punctuation behind;
 * where that gives too few, also with a word between, then any long word.
 */
export function keywordsOf(text: string, key: string): readonly string[] {
  const tokens: readonly string[] = text.match(/[A-Za-z]+|\d+|[.,;:!?]/g) ?? [];
  const fit = tokens.map((token, at) => ({ token, at })).filter(({ token }) => /^[a-z]{3,12}$/.test(token) && !steeringWords.has(token) && !empty.has(token));
  const closed = fit.filter(({ at }) => /^[.,;:!?]$/.test(tokens[at + 1] ?? ".") || after.has(tokens[at + 1] ?? ""));
  const articleBefore = (back: number) => ({ at }: { readonly at: number }): boolean => determiners.has((tokens[at - back] ?? "").toLowerCase());
  const guesses = [closed.filter(articleBefore(1)), closed.filter(articleBefore(2)), fit.filter(({ token }) => token.length >= 5)];
  const chosen = [...new Set(guesses.flat().map(({ token }) => token))].slice(0, most);
  const inOrder = chosen.toSorted((a, b) => tokens.indexOf(a) - tokens.indexOf(b));
  const start = inOrder.length === 0 ? 0 : new Rng(deriveSeed(0, "keywords", key, text)).int(0, inOrder.length - 1);
  return [...inOrder.slice(start), ...inOrder.slice(0, start)];
}
