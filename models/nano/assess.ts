import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { messageOf } from "../../src/core/errors.ts";
import { embeddedRenderer } from "../../src/chat/renderer.ts";
import { loadTokenizer } from "../../src/engine/bpe.ts";
import { EngineHost } from "../../src/engine/engine.ts";
import { embedded } from "../../src/policy/embedded.ts";
import { openSandbox } from "../../src/sandbox/pool.ts";
import { loadProgramKinds } from "../../src/selfplay/program-kinds.ts";
import { assessAgent, assessDesigner } from "./assessment.ts";
import { assessmentReport } from "./assessment-report.ts";
import { bundledPassages } from "./data.ts";
import { heldOutDocuments } from "./documents.ts";

/** `node models/nano/assess.ts`: how well a model designs and plays; prints tables, or JSON. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      model: { type: "string", default: "models/nano" },
      designs: { type: "string", default: "120" },
      programs: { type: "string", default: "3" },
      seeds: { type: "string", default: "4" },
      threads: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
      /** Also writes `assessment.md` into the model's directory. */
      write: { type: "boolean", default: false },
    },
  });
  const tokenizer = await loadTokenizer(join(values.model, "tokenizer.json"));
  const engine = await EngineHost.create({ source: { kind: "directory", directory: values.model }, threads: Number(values.threads) });
  const sandbox = await openSandbox({ lanes: 1 });
  try {
    const { policy } = await embedded(engine, { stopToken: tokenizer.special.end, maxPolicyLag: 0, keepReference: false, allowSamplingMismatch: false });
    const context = { policy, renderer: embeddedRenderer(tokenizer), sandbox, kinds: loadProgramKinds(values.model), documents: heldOutDocuments(bundledPassages()), seed: 1 };
    const designs = await assessDesigner(Number(values.designs), context);
    const size = { programs: Number(values.programs), seeds: Number(values.seeds) };
    const plays = [...(await assessAgent(size, false, context)), ...(await assessAgent(size, true, context))];
    const report = assessmentReport({ designs, plays });
    if (values.write) await writeFile(join(values.model, "assessment.md"), `${report}\n`);
    process.stdout.write(values.json ? `${JSON.stringify({ designs, plays })}\n` : `${report}\n`);
  } finally {
    await Promise.all([engine.close(), sandbox.close()]);
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
