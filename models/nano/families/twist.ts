import type { Context, SingleDraft } from "./draft.ts";
import { say } from "./draft.ts";

interface Twist {
  readonly expression: string;
  readonly sentence: string;
  readonly apply: (value: number) => readonly [string, number];
}

/** Changes a numeric answer by one more operation that the text states: the same story, one step longer. */
export function twisted(context: Context, draft: SingleDraft, subject: string): SingleDraft {
  const { rng, ground } = context;
  const n = ground.number(2, 9);
  const body = /^[\w.]+(\[\d\]|\(.*\))?$/.test(draft.expression) ? draft.expression : `(${draft.expression})`;
  const twist = rng.pick<() => Twist>([
    () => ({ expression: `${body} + ${n}`, sentence: say(rng, ["Add <n> to the result.", "The <s> gets <n> more at the end.", "Then <n> more come.", "Count <n> extra for the <s>."], { n, s: subject }), apply: (x) => [`${x}+${n}=${x + n}`, x + n] }),
    () => ({ expression: `${n} + ${body}`, sentence: say(rng, ["There were <n> already.", "The <s> had <n> from before; count them too.", "Start with <n> extra."], { n, s: subject }), apply: (x) => [`${x}+${n}=${x + n}`, x + n] }),
    () => ({ expression: `${body} * 2`, sentence: say(rng, ["Double the result.", "The <s> then doubles it.", "Give twice that number."], { s: subject }), apply: (x) => [`${x}*2=${x * 2}`, x * 2] }),
    () => ({ expression: `max(${body}, ${n + 3})`, sentence: say(rng, ["The <s> never shows less than <n>.", "If it is under <n>, say <n>.", "The least possible value is <n>."], { n: n + 3, s: subject }), apply: (x) => [x < n + 3 ? `${x}<${n + 3}, ${n + 3}` : `${x}>=${n + 3}, ${x}`, Math.max(x, n + 3)] }),
  ])();
  const sentences = [...draft.sentences];
  sentences.splice(Math.max(1, sentences.length - (rng.chance(0.5) ? 1 : 2)), 0, twist.sentence);
  return {
    ...draft,
    expression: twist.expression,
    sentences,
    hints: draft.hints.map((hint) => `${hint} ${say(rng, ["Then do the last step.", "Do not forget the last change.", "One more step follows."])}`),
    work: (state) => {
      const work = draft.work(state);
      const value = Number(/-?\d+$/.exec(work)?.[0]);
      return `${work}, ${twist.apply(value)[0]}`;
    },
  };
}
