import { z } from "zod";
import { spokenPart } from "../chat/action.ts";
import { SpadeError } from "../core/errors.ts";
import { deriveSeed } from "../core/seed.ts";
import { programId } from "../core/environment.ts";
import { auditPrompt } from "../designer/audit-prompt.ts";
import type { Auditor, AuditReport } from "../gates/audit.ts";
import { promptTokens, saidIn } from "../policy/either.ts";
import type { Sampling } from "../policy/policy.ts";
import type { Speaker } from "./dependencies.ts";

const reportSchema = z.object({
  opinion: z.enum(["agree", "disagree"]),
  reason: z.string(),
  demonstration: z.object({ seed: z.int(), actions: z.array(z.string()), expected: z.enum(["win", "loss"]) }).nullish(),
});

/** An auditor that asks a model. A reply that cannot be read fails the gate, as all that does not finish. */
export function modelAuditor({ policy, renderer }: Speaker, { sampling, seed }: { readonly sampling: Sampling; readonly seed: number }): Auditor {
  return {
    audit: async (task) => {
      const prompt = renderer.prompt(auditPrompt(task));
      const maxTokens = Math.max(1, Math.min(sampling.maxTokens, policy.contextLength - promptTokens(prompt)));
      const [sample] = await policy.sample([{ prompt, sampling: { ...sampling, maxTokens }, seed: deriveSeed(seed, "audit", programId(task.program)) }]);
      return readReport(sample === undefined ? "" : spokenPart(renderer.text(saidIn(sample))));
    },
  };
}

/** The report in a reply: the first JSON object of its form that reaches to the last brace, alone or in a fenced block. */
function readReport(reply: string): AuditReport {
  const end = reply.lastIndexOf("}") + 1;
  for (const { index } of reply.matchAll(/\{/g)) {
    const report = reportSchema.safeParse(parseOrNothing(reply.slice(index, end)));
    if (!report.success) continue;
    const { demonstration, ...opinion } = report.data;
    return { ...opinion, ...(demonstration === null || demonstration === undefined ? {} : { demonstration }) };
  }
  throw new SpadeError("gate.audit", `The auditor's reply holds no report that can be read: ${JSON.stringify(reply.slice(-200))}. Raise design.sampling.maxTokens, or use another model as advisor.`);
}

function parseOrNothing(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
