/**
 * A child whose gate is broken on purpose, to see that the battery notices: the import named by the second argument stays
 * open. Only tests start this file; nothing the sandbox is configured with leads here.
 */
import { randomFillSync } from "node:crypto";
import { passedImports } from "../child/imports.ts";
import { wasm, type WasmInstance } from "../child/web-assembly.ts";

const open = process.argv[3] ?? "";
let instance: WasmInstance | undefined;
const memory = (): ArrayBuffer => (instance?.exports["memory"] as { readonly buffer: ArrayBuffer }).buffer;

/** What the host would do for imports that the gate otherwise implements itself. */
const ofTheHost: Readonly<Record<string, (...args: number[]) => number>> = {
  random_get: (pointer = 0, length = 0) => {
    randomFillSync(new Uint8Array(memory(), pointer >>> 0, length >>> 0));
    return 0;
  },
  clock_time_get: (...args) => {
    new DataView(memory()).setBigUint64((args.at(-1) ?? 0) >>> 0, process.hrtime.bigint(), true);
    return 0;
  },
};

const replacement = ofTheHost[open];
if (replacement === undefined) (passedImports as Set<string>).add(open);
else {
  // Called by the gate's own hook, after it has replaced every import.
  const instantiate = wasm.instantiate.bind(wasm);
  wasm.instantiate = async (source, imports) => {
    if (imports?.["env"] !== undefined) imports["env"][open] = replacement;
    const result = await instantiate(source, imports);
    instance ??= result.instance;
    return result;
  };
}

await import("../child/main.ts");
