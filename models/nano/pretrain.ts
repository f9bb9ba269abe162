import { parseArgs } from "node:util";
import { messageOf, SpadeError } from "../../src/core/errors.ts";
import { refine } from "./refine.ts";
import { pretrain } from "./training.ts";

const usage = "node models/nano/pretrain.ts [--state DIR] [--out DIR] [--tokens N] [--threads N] [--checkpoint-minutes N]";

function positive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new SpadeError("usage.argument", `--${name} is "${text}", expected a number above 0. Usage: ${usage}`);
  return value;
}

/** `npm run nano:pretrain`: remakes the bundled model from nothing, or goes on where a killed run stopped. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      state: { type: "string", default: "runs/nano-pretrain" },
      out: { type: "string", default: "models/nano" },
      tokens: { type: "string" },
      threads: { type: "string", default: "2" },
      "checkpoint-minutes": { type: "string", default: "3" },
    },
  });
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  const complete = await pretrain({
    state: values.state,
    out: values.out,
    ...(values.tokens === undefined ? {} : { tokens: positive("tokens", values.tokens) }),
    threads: positive("threads", values.threads),
    checkpointMinutes: positive("checkpoint-minutes", values["checkpoint-minutes"]),
    report: (line) => process.stdout.write(`${line}\n`),
    stop: stop.signal,
  });
  if (complete) await refine({ state: values.state, model: values.out, threads: positive("threads", values.threads), report: (line) => process.stdout.write(`${line}\n`) });
}

main().catch((error: unknown) => {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
});
