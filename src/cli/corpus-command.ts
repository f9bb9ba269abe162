import { resolve } from "node:path";
import process from "node:process";
import { loadConfig } from "../config/load.ts";
import { presets } from "../config/presets.ts";
import type { Corpus } from "../corpus/corpus.ts";
import { isAddress } from "../corpus/location.ts";
import { firstWords, type Document } from "../corpus/record.ts";
import { openConfiguredCorpus } from "../selfplay/corpus.ts";
import type { Arguments, CommandSpec } from "./arguments.ts";

/** `spade corpus`: reads a corpus as a run would, and says what is in it. */
export const corpusCommand: CommandSpec = {
  name: "corpus",
  usage: "corpus <preset|config.json|path> [options]",
  summary: "Read a corpus as a run would (a path stands for one source with the defaults), count it and show what the first draws are.",
  options: [
    { name: "show", value: "N", help: "documents to show (default: 3)" },
    { name: "json", help: "print JSON" },
  ],
  run: checkCorpus,
};

async function checkCorpus(args: Arguments): Promise<number> {
  const source = args.required(0, "The preset, configuration file or path");
  const isConfig = Object.hasOwn(presets, source) || source.endsWith(".json");
  const { config } = isConfig ? loadConfig(source) : loadConfig("smoke", { corpus: { paths: [isAddress(source) ? source : resolve(source)], maxWords: 1_000_000 } });
  const corpus = await openConfiguredCorpus(config.corpus, { readVariable: (name) => process.env[name], notice: (text) => console.error(text) });
  try {
    const shown = Math.min(args.integer("show") ?? 3, corpus.size);
    const documents = Array.from({ length: shown }, (_, index) => corpus.draw({ seed: config.run.seed, iteration: 0, index, perIteration: shown }));
    const { size, digest, counts } = corpus;
    console.log(args.flag("json") ? JSON.stringify({ source, digest, documents: size, counts, lengths: corpus.lengths(), shown: documents }, null, 2) : describe(corpus, documents));
    return 0;
  } finally {
    corpus.close();
  }
}

function describe(corpus: Corpus, documents: readonly Document[]): string {
  const { counts, digest } = corpus;
  const { words, characters } = corpus.lengths();
  const range = ([least, middle, most]: readonly [number, number, number]): string => `${least} to ${most}, median ${middle}`;
  return [
    `${counts.documents} documents of ${counts.rows} rows read; ${counts.duplicates} duplicates, ${counts.outsideLimits} outside the length limits`,
    `words ${range(words)}; characters ${range(characters)}`,
    `digest ${digest}`,
    ...documents.map(({ id, text, source }) => `\n${id}  ${JSON.stringify(source)}\n  ${excerpt(text)}`),
  ].join("\n");
}

function excerpt(text: string): string {
  const short = firstWords(text, 40);
  return `${short.replace(/\s+/g, " ").slice(0, 400)}${short.length < text.length ? " …" : ""}`;
}
