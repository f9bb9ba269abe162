import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { saveCheckpoint } from "../checkpoints.ts";

/** Fixture: writes the first of a checkpoint's files, says so, and waits to be killed. Arguments: run directory, iteration. */
const iteration = Number(process.argv[3]);
await saveCheckpoint(process.argv[2] ?? "", {
  iteration,
  policyVersion: iteration,
  pinned: false,
  write: (directory) => {
    writeFileSync(join(directory, "weights.bin"), "half of it");
    process.stdout.write("between two files\n");
    setInterval(() => undefined, 1000);
    return new Promise(() => undefined);
  },
});
