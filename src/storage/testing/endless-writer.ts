import { RunStore } from "../run-store.ts";

/** Fixture: commits one iteration, says so, then writes rows of the next one until it is killed. Argument: run directory. */
const store = RunStore.create(process.argv[2] ?? "", { name: "fixture", programVersion: "0", config: {}, configDigest: "d", provenance: {} });
const first = store.beginIteration(0);
first.addEvent("kept", {});
first.commit({ policyVersion: 0 });
const second = store.beginIteration(1);
for (let i = 0; ; i++) {
  second.addEvent("lost", { i });
  if (i === 100) process.stdout.write("writing\n");
}
