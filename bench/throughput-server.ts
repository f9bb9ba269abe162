/** A Tinker server of fixed speed, in a process of its own: `node bench/throughput-server.ts '<ServerSpeed as JSON>'` prints its URL. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { monotonicClock } from "../src/core/clock.ts";
import { Rng } from "../src/core/seed.ts";
import { fence } from "../src/designer/prompts.ts";
import { loadTokenizer } from "../src/engine/bpe.ts";
import { readGoodBank } from "../src/gates/good-bank.ts";
import type { Policy } from "../src/policy/policy.ts";
import { scriptedPolicy, type ScriptedPrompt } from "../src/policy/scripted.ts";
import { protobufOutput, readForwardBackward } from "../src/policy/tinker/testing/server-protobuf.ts";

/** What the server takes for each thing, whatever else it does at the time. */
export interface ServerSpeed {
  /** Before the first token of a sample. */
  readonly prefillMs: number;
  /** Of each sample by itself. */
  readonly tokensPerSecond: number;
  /** One forward or backward pass over a batch. */
  readonly passMs: number;
  readonly optimiserStepMs: number;
  /** Making weights samplable. */
  readonly publishMs: number;
  readonly saveMs: number;
}

/** Name of the model that it serves. */
export const servedModel = "bench/fixed-speed";
const contextLength = 16_384;
/** Every sampled token has this log-probability, in sampling and in training. */
const logprob = -1;
/** Programs of the good bank that are played over several turns, and one of a single turn. The first can be won by halving. */
const designs = ["weighing.py", "mastermind.py", "weighing.py", "odd_number.py", "weighing.py", "recurrence.py"];
/** A poll that has waited so long is answered by `try_again`. */
const holdMs = 20_000;

interface Future {
  readonly dueMs: number;
  readonly answer: { readonly body: string | Uint8Array; readonly type: string };
}

type Body = Readonly<Record<string, unknown>>;

/** What the model says: programs of the bank, one hint, and moves with some words of thought before them. */
async function script(): Promise<Policy> {
  const root = join(import.meta.dirname, "..");
  const tokenizer = await loadTokenizer(join(root, "models/nano/tokenizer.json"));
  const bank = readGoodBank(join(root, "environments/good"));
  const programs = designs.map((file) => bank.find((program) => program.file === file)?.program.source ?? "");
  let designed = 0;
  const respond = ({ messages, last, seed }: ScriptedPrompt): string => {
    const system = messages[0]?.text ?? "";
    if (system === "designer") return `A world for this text.\n${fence(programs[designed++ % programs.length] ?? "")}`;
    if (system === "hint") return "Let every answer rule out half of what is left.";
    const rng = new Rng(seed);
    const thought = "so the answer must lie between what was seen before and what is left of it, ".repeat(rng.int(1, 6));
    return `${thought}\\boxed{${move(messages, last, rng)}}`;
  };
  return scriptedPolicy({ tokenizer, respond, contextLength });
}

/** Halves the range of a weighing and names the weight, at times too early; guesses in other games. */
function move(messages: ScriptedPrompt["messages"], last: string, rng: Rng): string {
  if (!/parcel|pan|weigh/i.test(messages.map(({ text }) => text).join(" "))) return rng.pick(["red blue green", "test 120", "test 377", "42", "white white red"]);
  let [low, high] = [3, 400];
  messages.forEach(({ role, text }, i) => {
    const put = role === "assistant" ? Number(/put (\d+)/.exec(text)?.[1]) : NaN;
    const answer = messages[i + 1]?.text ?? "";
    if (Number.isNaN(put)) return;
    if (answer.includes("level")) [low, high] = [put, put];
    else if (answer.includes("left")) low = put + 1;
    else high = put - 1;
  });
  const middle = Math.floor((low + high) / 2);
  return low >= high || rng.chance(0.03) || last === "" ? `name ${middle}` : `put ${middle}`;
}

/** The server's state: futures by id, and how late its answers were. */
class FixedSpeedServer {
  readonly #speed: ServerSpeed;
  readonly #policy: Policy;
  readonly #futures = new Map<string, Future>();
  #ids = 0;

  constructor(speed: ServerSpeed, policy: Policy) {
    this.#speed = speed;
    this.#policy = policy;
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const bytes = Buffer.concat(parts);
    const at = request.url?.split("/").at(-1) ?? "";
    const { body, type } = request.headers["content-type"] === "application/x-protobuf" ? this.#pass(bytes) : await this.#json(at, bytes.length === 0 ? {} : (JSON.parse(bytes.toString()) as Body));
    response.writeHead(200, { "content-type": type }).end(body);
  }

  async #json(at: string, body: Body): Promise<Future["answer"]> {
    const { optimiserStepMs, publishMs, saveMs } = this.#speed;
    switch (at) {
      case "get_server_capabilities":
        return json({ supported_models: [{ model_name: servedModel, max_context_length: contextLength }] });
      case "create_session":
        return json({ type: at, session_id: "session" });
      case "create_model":
        return this.#future(0, json({ model_id: "model", type: at }));
      case "save_weights_for_sampler":
        return this.#future(publishMs, json({ path: null, sampling_session_id: `sampler-${this.#ids}`, type: at }));
      case "save_weights":
        return this.#future(saveMs, json({ path: `tinker://model/weights/${String(body["path"])}`, type: at }));
      case "optim_step":
        return this.#future(optimiserStepMs, json({ metrics: { "grad_norm:mean": 1 } }));
      case "asample":
        return this.#sample(body);
      case "retrieve_future":
        return this.#retrieve(String(body["request_id"]));
      default:
        return json({ type: at });
    }
  }

  async #sample(body: Body): Promise<Future["answer"]> {
    const { prefillMs, tokensPerSecond } = this.#speed;
    const { max_tokens: maxTokens, seed } = body["sampling_params"] as { max_tokens: number; seed: number };
    const prompt = Int32Array.from((body["prompt"] as { chunks: { tokens: number[] }[] }).chunks.flatMap(({ tokens }) => tokens));
    const [sample] = await this.#policy.sample([{ prompt, seed, sampling: { temperature: 1, topP: 1, topK: 0, maxTokens } }]);
    const tokens = [...(sample?.tokens ?? [])];
    return this.#future(prefillMs + (tokens.length * 1000) / tokensPerSecond, json({ type: "sample", sequences: [{ stop_reason: sample?.stop, tokens, logprobs: tokens.map(() => logprob) }] }));
  }

  #pass(bytes: Uint8Array): Future["answer"] {
    const { datums } = readForwardBackward(bytes);
    return this.#future(this.#speed.passMs, { body: protobufOutput(datums.map(({ targets }) => new Float32Array(targets.length).fill(logprob)), {}), type: "application/x-protobuf" });
  }

  #future(tookMs: number, answer: Future["answer"]): Future["answer"] {
    const id = String(this.#ids++);
    this.#futures.set(id, { dueMs: monotonicClock() + tookMs, answer });
    return json({ request_id: id });
  }

  async #retrieve(id: string): Promise<Future["answer"]> {
    const future = this.#futures.get(id);
    if (future === undefined) return json({ error: `no future ${id}` });
    const waitMs = future.dueMs - monotonicClock();
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(waitMs, holdMs)));
    if (waitMs > holdMs) return json({ type: "try_again" });
    this.#futures.delete(id);
    return future.answer;
  }
}

function json(value: unknown): Future["answer"] {
  return { body: JSON.stringify(value), type: "application/json" };
}

if (import.meta.main) {
  const fixed = new FixedSpeedServer(JSON.parse(process.argv[2] ?? "") as ServerSpeed, await script());
  const server = createServer((request, response) => void fixed.handle(request, response)).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  // The bench holds this end of the pipe: when it is gone, so is the server.
  process.stdin.on("end", () => process.exit()).resume();
}
