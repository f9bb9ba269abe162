import process from "node:process";
import { presets } from "../config/presets.ts";
import type { CommandSpec } from "./arguments.ts";
import { table } from "./format.ts";
import { presetsDocument, resolvePreset, summaryOf } from "./presets-document.ts";

/** `spade presets`: the named configurations, as a list or as the document `docs/presets.md`. */
export const presetsCommand: CommandSpec = {
  name: "presets",
  usage: "presets [--markdown | --json]",
  summary: "List the named configurations. --markdown prints docs/presets.md, the paper's values beside ours.",
  options: [
    { name: "markdown", help: "print docs/presets.md" },
    { name: "json", help: "print each preset as it resolves (what its user has to name is filled in by placeholders)" },
  ],
  run: (args) => {
    const names = Object.keys(presets);
    if (args.flag("json")) console.log(JSON.stringify(Object.fromEntries(names.map((name) => [name, resolvePreset(name)])), null, 2));
    else if (args.flag("markdown")) process.stdout.write(presetsDocument());
    else console.log(table([["preset", "iterations", "what it is"], ...names.map((name) => [name, String(resolvePreset(name).run.iterations), summaryOf(name)])], { left: [0, 2] }));
    return 0;
  },
};
