import { join } from "node:path";
import { z } from "zod";
import { corpusSourceSchema, type Config } from "../config/schema.ts";
import { SpadeError } from "../core/errors.ts";
import { bundledCorpus, openCorpus, type Corpus } from "../corpus/corpus.ts";
import { isAddress } from "../corpus/location.ts";
import { readSecret, type ReadVariable } from "../http/secret.ts";
import { defaultCacheDirectory } from "../sandbox/image.ts";
import { packagePath } from "./paths.ts";

/** Opens the corpus of a configuration. `cacheDirectory`: where its index may be kept. @throws SpadeError corpus.*, http.key */
export async function openConfiguredCorpus(
  { paths, sources, sampleSeed, keep, maxWords, huggingFace }: Config["corpus"],
  { readVariable, notice, cacheDirectory = join(defaultCacheDirectory(), "corpora") }: { readonly readVariable: ReadVariable; readonly notice?: (text: string) => void; readonly cacheDirectory?: string },
): Promise<Corpus> {
  const named = [...paths.map((path) => corpusSourceSchema.parse({ path })), ...sources];
  const all = named.length > 0 ? named : bundledCorpus().map((path) => corpusSourceSchema.parse({ path }));
  const { endpoint, apiKeyEnv } = huggingFace;
  return openCorpus(
    all.map((source) => ({ ...source, path: isAddress(source.path) ? source.path : packagePath(source.path) })),
    { sampleSeed, keep, maxWords, cacheDirectory, hub: { endpoint, ...(apiKeyEnv === undefined ? {} : { apiKey: readSecret(apiKeyEnv, readVariable) }) }, ...(notice === undefined ? {} : { notice }) },
  );
}

const provenanceSchema = z.looseObject({ corpus: z.looseObject({ digest: z.string(), documents: z.int() }).exactOptional() });

/** What a run's provenance says of its corpus. */
export function corpusProvenance({ digest, size }: Corpus): { readonly digest: string; readonly documents: number } {
  return { digest, documents: size };
}

/** Refuses to go on with a run on other documents than it began with. @throws SpadeError corpus.changed */
export function refuseOtherCorpus({ digest, size }: Corpus, provenance: unknown): void {
  const began = provenanceSchema.safeParse(provenance).data?.corpus;
  if (began === undefined || began.digest === digest) return;
  throw new SpadeError(
    "corpus.changed",
    `The run began with a corpus of ${began.documents} documents and the digest ${began.digest.slice(0, 16)}; the same sources now hold ${size} documents with the digest ${digest.slice(0, 16)}. Put the files of corpus.paths and corpus.sources back as they were and resume, or start a new run.`,
    { details: { began, digest, documents: size } },
  );
}
