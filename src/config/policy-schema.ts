import { z } from "zod";

const count = z.int().min(1);
const price = z.number().min(0);

/** Says what a key without default is for when it is missing. */
export const missing = (what: string) => ({ error: ({ input }: { readonly input?: unknown }) => (input === undefined ? `missing: ${what}` : undefined) });

const baseUrl = (what: string) => z.url({ protocol: /^https?$/, ...missing(what) }).refine((url) => !/^[a-z]+:\/\/[^/]*@/i.test(url), { error: "a URL may hold no user or password: name the environment variable of the key in apiKeyEnv" });

/** Name of an environment variable that holds a secret; the secret itself is nowhere in the record. */
export const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "it is the name of an environment variable, never the key itself");

/** Of the API key; absent: none is sent. */
const apiKeyEnv = variableName.exactOptional();

const embeddedSchema = z.strictObject({
  kind: z.literal("embedded"),
  /** Directory of the model; a relative path is taken from the package's root. */
  model: z.string().min(1).default("models/nano"),
  threads: count.default(2),
});

const tinkerSchema = z.strictObject({
  kind: z.literal("tinker"),
  /** Where the server is, for example `http://127.0.0.1:8000`. */
  baseUrl: baseUrl("where the server is, for example --set policy.baseUrl=http://127.0.0.1:8000"),
  /** Name of the base model, letter by letter as the server serves it. */
  model: z.string(missing("the base model, letter by letter as the server serves it")).min(1),
  /** Directory of the served model's tokenizer; a relative path is taken from the package's root. */
  tokenizer: z.string(missing("local directory of the served model's tokenizer, for example --set policy.tokenizer=/models/Qwen3-4B-Instruct-2507")).min(1),
  /** Which server it is: what differs between servers follows from it. */
  profile: z.enum(["hosted", "skyrl-jax", "skyrl-jax-0.3", "skyrl-torch", "tuft", "hatchery"], missing("which server it is, for example --set policy.profile=skyrl-jax (docs/engines.md)")),
  apiKeyEnv,
  lora: z
    .strictObject({
      rank: count.default(32),
      trainAttention: z.boolean().default(true),
      trainMlp: z.boolean().default(true),
      trainUnembedding: z.boolean().default(true),
    })
    .prefault({}),
  /** Tokens of the model's context; absent: as the server says. */
  contextLength: z.int().min(2).exactOptional(),
  /** Sampling requests in flight at once. */
  maxConcurrentSamples: count.default(64),
  /** Rows of one forward_backward request, and its estimated size. */
  chunk: z.strictObject({ datums: count.default(1024), bytes: count.default(5_000_000) }).prefault({}),
  /** Of one HTTP request. */
  requestTimeoutMs: count.default(60_000),
  /** Of one operation, the time in the server's queue included. */
  operationTimeoutMs: count.default(3_600_000),
});

/** An endpoint of the OpenAI kind: it samples and does not train. */
const openaiSchema = z.strictObject({
  kind: z.literal("openai"),
  /** Everything before `/chat/completions`, for example `http://127.0.0.1:8000/v1`. */
  baseUrl: baseUrl("where the endpoint is, for example --set policy.baseUrl=http://127.0.0.1:8000/v1"),
  /** Name of the model, letter by letter as `/models` lists it. */
  model: z.string(missing("the model, letter by letter as GET /models lists it")).min(1),
  apiKeyEnv,
  /**
   * Directory of the served model's tokenizer: tokens are sent and taken through `/completions`, exactly, with their log-probabilities. Absent: chats
   * are sent and text is taken.
   */
  tokenizer: z.string().min(1).exactOptional(),
  /** Tokens of the model's context; absent: as the server says, or not known. */
  contextLength: z.int().min(2).exactOptional(),
  /** Requests in flight at once. */
  maxConcurrentSamples: count.default(16),
  /** Ask for replies as a stream: proxies cut off connections that are silent for long. */
  stream: z.boolean().default(true),
  /** Laid over the body of each request; null leaves a field out. */
  body: z.record(z.string(), z.unknown()).default({}),
  /** In any currency, for a million tokens. Cached input costs as much as other input when its price is not given. */
  prices: z.strictObject({ input: price, cachedInput: price.exactOptional(), output: price }).exactOptional(),
  /** No request begins once so much is spent by this process. */
  limit: z.strictObject({ tokens: count.exactOptional(), cost: z.number().positive().exactOptional() }).prefault({}),
  /** Of one request, up to the end of the reply. */
  requestTimeoutMs: count.default(600_000),
});

export const policyKinds = [embeddedSchema, tinkerSchema, openaiSchema] as const;

/** A second model behind an endpoint. */
export const advisorSchema = z.strictObject({
  policy: openaiSchema,
  /** Hints are written by it instead of by the policy. It audits programs where `gates.audit.enabled` is true. */
  writesHints: z.boolean().default(true),
});
