import { SpadeError } from "../../core/errors.ts";
import { RunStore } from "../run-store.ts";

/** Fixture, to be run where files cannot grow beyond a limit: commits one iteration, then writes until it fails. Argument: run directory. */
const store = RunStore.create(process.argv[2] ?? "", { name: "fixture", programVersion: "0", config: {}, configDigest: "d", provenance: {} });
store.beginIteration(0).commit({ policyVersion: 0 });
const writer = store.beginIteration(1);
try {
  for (let i = 0; i < 1000; i++) writer.addEvent("filler", "x".repeat(10_000));
  process.stdout.write("never full\n");
} catch (error) {
  process.stdout.write(error instanceof SpadeError ? `${error.code}: ${error.message}\n` : `not ours: ${String(error)}\n`);
}
