import type { Rng } from "../../src/core/seed.ts";
import { madeUpWord, randomWords, units, verbs } from "./words.ts";
import type { GroundingDocument, Quantity } from "./documents.ts";

const openings = [
  "Behind the {0} there was a {1} beside the {2}.",
  "The {0} and the {1} belonged to the same {2}.",
  "Every morning the {0} was carried past the {1} to the {2}.",
  "In this region the {0} has been used with a {1} for a long time.",
  "A {0}, a {1} and a {2} were kept in one room.",
  "Most people know the {0} only from the {1}, not from the {2}.",
  "The workshop uses a {0} to move the {1} towards the {2}.",
  "Nobody could say why the {0} stood so far from the {1} and the {2}.",
  "The {0} is where the {1} meets the {2}.",
  "Long ago the {0} was traded for the {1}.",
];

const quantitySentences = [
  "The {0} can hold {n} {u}.",
  "About {n} {u} passed through the {0}.",
  "It took {n} {u} before the {0} was ready.",
  "The limit of the {0} is {n} {u}.",
  "Each {0} is given {n} {u}.",
  "At the {0} the meter showed {n} {u}.",
  "There were {n} {u} near the {0}.",
  "Only {n} {u} were left in the {0}.",
  "A good {0} needs {n} {u}.",
  "The keeper of the {0} recorded {n} {u}.",
  "After the {0} they waited {n} {u}.",
  "The {0} costs {n} coins and lasts a year.",
  "Between the {0} and the door there are {n} {u}.",
];

const relationSentences = [
  "When the {0} stops, the {1} stops too.",
  "The {0} feeds the {1}.",
  "If the {0} is empty, the {1} cannot start.",
  "The {0} came after the {1} in the list.",
  "To the left of the {0} stood a {1}.",
  "The {0} is heavier than the {1}.",
  "Without a {0} the {1} would be useless.",
  "The {0} was placed on top of the {1}.",
  "A broken {0} slows the {1} down.",
  "The {0} turns the {1} a little further each time.",
  "People who have a {0} often want a {1} as well.",
  "North of the {0} lies the {1}.",
];

const fillers = [
  "This was noticed by a visitor long before it was written down.",
  "It is not known who planned it this way.",
  "The work is quiet and is done by hand.",
  "In winter everything takes longer.",
  "Most of the time nothing goes wrong.",
  "A careful helper checks it twice.",
  "The reason is simple, yet few remember it.",
  "Children like to watch.",
  "Small errors add up when nobody looks.",
  "On dry days the result is better.",
];

const fill = (template: string, words: readonly string[], quantity?: Quantity): string =>
  template.replace(/\{(\d|n|u)\}/g, (_, key: string) => (key === "n" ? String(quantity?.value ?? 0) : key === "u" ? (quantity?.unit ?? "") : (words[Number(key)] ?? "")));

/** A short passage of invented content: random nouns, numbers and relations in many sentence forms. */
export function syntheticDocument(rng: Rng): GroundingDocument {
  const terms = randomWords(rng, rng.int(6, 9));
  const quantities: Quantity[] = [];
  const opening = fill(rng.pick(openings), rng.sample(terms, 3));
  const body: string[] = [];
  for (const term of rng.sample(terms, rng.int(2, 4))) {
    const quantity = { name: term, value: rng.chance(0.8) ? rng.int(2, 20) : rng.int(21, 99), unit: rng.pick(units) };
    const sentence = fill(rng.pick(quantitySentences), [term], quantity);
    quantities.push(sentence.includes(quantity.unit) ? quantity : { ...quantity, unit: "coins" });
    body.push(sentence);
  }
  for (let i = rng.int(2, 4); i > 0; i--) body.push(fill(rng.pick(relationSentences), rng.sample(terms, 2)));
  const sequence = rng.chance(0.5) ? rng.sample(verbs, rng.int(3, 4)) : [];
  if (sequence.length > 0) body.push(`First the ${rng.pick(terms)} is ${sequence.slice(0, -1).join(", then ")} and at last ${sequence.at(-1) ?? ""}.`);
  if (rng.chance(0.6)) body.push(rng.pick(fillers));
  const text = [opening, ...rng.shuffle(body)].join(" ");
  const missing = terms.filter((term) => !new RegExp(`\\b${term}\\b`).test(text));
  const tail = missing.length === 0 ? "" : ` Nearby there ${missing.length === 1 ? "was" : "were"} also the ${missing.join(", the ")}.`;
  return { id: `synthetic-${madeUpWord(rng)}${rng.int(0, 99999)}`, text: text + tail, terms, quantities, sequence };
}
