/**
 * Writes `environments/easy`: one program of every demonstration family at difficulty 1, on passages kept from
 * pretraining, each admitted by the gates. It watches for forgetting: what the warm start taught must not get lost.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deriveSeed, Rng } from "../../src/core/seed.ts";
import { extractProgram } from "../../src/designer/extract.ts";
import { fence } from "../../src/designer/prompts.ts";
import { admit } from "../../src/gates/admit.ts";
import { defaultGates } from "../../src/gates/config.ts";
import { openSandbox } from "../../src/sandbox/pool.ts";
import { heldOutDocuments, loadPassages } from "./documents.ts";
import { families, sampleGame } from "./families/index.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const seed = 11;
const attempts = 40;
const sandbox = await openSandbox({ lanes: 1 });
const documents = heldOutDocuments(loadPassages(`${root}corpora`));
const programs: { file: string; skill: string; level: number; title: string }[] = [];
mkdirSync(`${root}environments/easy`, { recursive: true });
for (const { name } of families) {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const rng = new Rng(deriveSeed(seed, name, attempt));
    const document = documents(rng);
    const { program } = sampleGame(rng, document, { family: name, difficulty: 1 });
    const text = fence(program.source);
    const { record } = await admit({ id: `${name}.${attempt}`, text, extraction: extractProgram(text), document: document.text }, { sandbox, config: defaultGates, seed });
    if (record.verdict !== "admitted") continue;
    const file = `${name.replace(/[^a-z0-9]+/gi, "_")}.py`;
    writeFileSync(`${root}environments/easy/${file}`, program.source.endsWith("\n") ? program.source : `${program.source}\n`);
    programs.push({ file, skill: program.skill, level: 1, title: `demonstration family ${name}` });
    break;
  }
}
writeFileSync(`${root}environments/easy/manifest.json`, `${JSON.stringify({ suite: "easy", version: 1, programs }, null, 2)}\n`);
await sandbox.close();
console.log(`${programs.length} of ${families.length} families written`);
