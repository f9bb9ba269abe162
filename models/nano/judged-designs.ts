import type { Renderer } from "../../src/chat/renderer.ts";
import { invariant } from "../../src/core/errors.ts";
import { Rng } from "../../src/core/seed.ts";
import { extractProgram } from "../../src/designer/extract.ts";
import { admitAll, type Admission } from "../../src/gates/admit.ts";
import type { GatesConfig } from "../../src/gates/config.ts";
import type { Policy } from "../../src/policy/policy.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { designerDemonstration } from "./demonstrations.ts";
import type { DocumentSource } from "./documents.ts";

/** What one design follows from. */
export interface DesignDraw {
  readonly id: string;
  /** Of skill, passage and earlier programs. */
  readonly promptSeed: number;
  readonly sampleSeed: number;
}

/** A program that the policy wrote for a demonstration's prompt, and what the gates said. */
export interface JudgedDesign {
  readonly skill: string;
  readonly prompt: Int32Array;
  readonly tokens: Int32Array;
  readonly response: string;
  readonly admission: Admission;
}

export interface DesignContext {
  readonly policy: Policy;
  readonly renderer: Renderer;
  readonly sandbox: Sandbox;
  readonly documents: DocumentSource;
  readonly gates: GatesConfig;
  readonly temperature: number;
  readonly maxTokens: number;
  /** Seed of the gates. */
  readonly seed: number;
}

/** Lets the policy design for prompts as in the demonstrations, and judges what it wrote; one result per draw, in order. */
export async function judgedDesigns(draws: readonly DesignDraw[], context: DesignContext): Promise<JudgedDesign[]> {
  const { policy, renderer, sandbox, documents, gates, temperature, maxTokens, seed } = context;
  const tasks = draws.map(({ id, promptSeed, sampleSeed }) => {
    const { demonstration, document } = designerDemonstration(new Rng(promptSeed), documents);
    return { id, sampleSeed, skill: demonstration.skill, document, prompt: renderer.prompt(demonstration.messages) };
  });
  const samples = await policy.sample(tasks.map(({ prompt, sampleSeed }) => ({ prompt, sampling: { temperature, topP: 1, topK: 0, maxTokens }, seed: sampleSeed })));
  const written = tasks.map((task, index) => {
    const tokens = samples[index]?.tokens;
    invariant(tokens !== undefined, "a policy returns one sample per request");
    return { ...task, tokens, response: renderer.text(tokens) };
  });
  const admissions = await admitAll(
    written.map(({ id, document, response }) => ({ id, text: response, document, extraction: extractProgram(response) })),
    { sandbox, config: gates, seed },
  );
  return written.map(({ skill, prompt, tokens, response }, index) => {
    const admission = admissions[index];
    invariant(admission !== undefined, "the gates judge every candidate");
    return { skill, prompt, tokens, response, admission };
  });
}
