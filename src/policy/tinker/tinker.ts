import { SpadeError } from "../../core/errors.ts";
import { Gate } from "../../http/gate.ts";
import { checkRequest, checkSampled } from "../checks.ts";
import type { Policy, Sample, SampleOptions, SampleRequest } from "../policy.ts";
import type { Connection } from "./connection.ts";
import { Model, type ModelOptions } from "./model.ts";
import { Sampler } from "./sampler.ts";
import { Session } from "./session.ts";
import { checkTokenizer } from "./tokenizer-check.ts";
import { TinkerTrainer } from "./trainer.ts";

export interface TinkerOptions extends ModelOptions {
  /** Tokens that end a response; servers have no default of their own. */
  readonly stopTokens: readonly number[];
  /** Ids at or above this cannot be decoded: the server's tokenizer is another one. */
  readonly vocabularySize: number;
  /** A known text by which the tokenizer is compared with the served model before the first sample; absent: not compared. */
  readonly probe?: Int32Array;
  /** Versions a row may lag behind the weights it updates. */
  readonly maxPolicyLag: number;
  /** Accept topP, topK and temperatures other than 1 although the loss does not model them (invariant 10). */
  readonly allowSamplingMismatch: boolean;
  /** Tokens of the model's context; absent: as the server says. */
  readonly contextLength?: number;
  /** Sampling requests at once. */
  readonly maxConcurrentSamples: number;
  /** Go on sampling from the version before while an update runs. Default: wait for the new one. */
  readonly sampleDuringUpdates?: boolean;
}

/** A version of the weights as it is sampled from. */
interface Published {
  readonly policyVersion: number;
  readonly sampler: Promise<Sampler>;
}

/** What the policy and the trainer of one session share. */
export interface Shared {
  readonly session: Session;
  readonly options: TinkerOptions;
  readonly contextLength: number;
  readonly gate: Gate;
  model: Model;
  policyVersion: number;
  /** The present version, made samplable when it is first asked for. */
  published: Published | undefined;
  /** Settles when the update in progress has ended, so that no sample carries the version before the weights it came from. */
  idle: Promise<unknown>;
  /** Settles when the samples in progress have ended. */
  sampling: Promise<unknown>;
}

/** Policy and trainer on a Tinker server; disposing of it ends the session. */
export interface Tinker extends AsyncDisposable {
  readonly policy: TinkerPolicy;
  readonly trainer: TinkerTrainer;
}

/**
 * Opens a session and makes an adapter to sample from and to train.
 * @throws SpadeError policy.unsupported, policy.unreachable, policy.key, policy.model, policy.lost, policy.contextLength, policy.tokenizer, policy.protocol, policy.operation
 */
export async function connectTinker(connection: Connection, options: TinkerOptions): Promise<Tinker> {
  if (options.sampleDuringUpdates === true && connection.profile.samplingOverwritesTraining) {
    throw new SpadeError("policy.unsupported", "On a server of this profile sampling overwrites the weights in training, so nothing can be sampled during an update. Set update.asynchronous to false, or use another server.");
  }
  const session = await Session.open(connection, options.baseModel);
  try {
    const contextLength = options.contextLength ?? session.contextLength;
    if (contextLength === undefined) throw new SpadeError("policy.contextLength", `The server does not say how long the context of ${options.baseModel} is. Set policy.contextLength.`);
    if (options.probe !== undefined) await checkTokenizer(session, options.baseModel, { tokens: options.probe, vocabularySize: options.vocabularySize });
    const model = await Model.create(session, options);
    const shared: Shared = { session, options, contextLength, gate: new Gate(options.maxConcurrentSamples), model, policyVersion: 0, published: undefined, idle: Promise.resolve(), sampling: Promise.resolve() };
    const dispose = async (): Promise<void> => {
      session.close();
      await shared.model.unload();
    };
    return { policy: new TinkerPolicy(shared), trainer: new TinkerTrainer(shared), [Symbol.asyncDispose]: dispose };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** Samples from the adapter's newest version. @throws SpadeError policy.contextLength, policy.samplingMismatch, policy.nonFinite, policy.protocol */
export class TinkerPolicy implements Policy {
  readonly #shared: Shared;

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  get contextLength(): number {
    return this.#shared.contextLength;
  }

  /** Every request is one of its own at the server. */
  get concurrent(): true {
    return true;
  }

  async sample(requests: readonly SampleRequest[], { signal }: SampleOptions = {}): Promise<readonly Sample[]> {
    for (const request of requests) checkRequest(request, { contextLength: this.contextLength, allowSamplingMismatch: this.#shared.options.allowSamplingMismatch });
    if (requests.length === 0) return [];
    const { published, options, idle } = this.#shared;
    const samples = options.sampleDuringUpdates === true && published !== undefined ? this.#sampleAll(requests, signal) : idle.then(() => this.#sampleAll(requests, signal));
    this.#shared.sampling = Promise.allSettled([this.#shared.sampling, samples]).then(() => undefined);
    return samples;
  }

  async #sampleAll(requests: readonly SampleRequest[], signal: AbortSignal | undefined): Promise<readonly Sample[]> {
    const { options } = this.#shared;
    const { policyVersion, sampler: publishing } = this.#published();
    const sampler = await publishing;
    const failed = new AbortController();
    const giveUp = signal === undefined ? failed.signal : requests.length === 1 ? signal : AbortSignal.any([signal, failed.signal]);
    const one = async ({ prompt, sampling, seed, session }: SampleRequest): Promise<Sample> => {
      const maxTokens = Math.min(sampling.maxTokens, this.contextLength - prompt.length);
      const asked = { prompt, sampling: { ...sampling, maxTokens }, seed, stopTokens: options.stopTokens, ...(session === undefined ? {} : { session }) };
      const sequence = await sampler.sample(asked, giveUp);
      return { ...checkSampled(sequence, { maxTokens, vocabularySize: options.vocabularySize }), stop: sequence.stopReason, policyVersion };
    };
    try {
      return await Promise.all(requests.map(one));
    } catch (error) {
      failed.abort();
      throw error;
    }
  }

  /** The present version; it is published when it is first asked for. */
  #published(): Published {
    const { session, model, gate, policyVersion } = this.#shared;
    const publish = async (): Promise<Sampler> => new Sampler(session.connection, await model.saveForSampler(), gate);
    if (this.#shared.published !== undefined) return this.#shared.published;
    const published: Published = { policyVersion, sampler: publish() };
    published.sampler.catch(() => {
      if (this.#shared.published === published) this.#shared.published = undefined;
    });
    this.#shared.published = published;
    return published;
  }
}
