#!/usr/bin/env node
// Starts the command line with the Node this package pins, whatever Node runs this file.
import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const node = join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin", process.platform === "win32" ? "node.exe" : "node");
const child = spawnSync(node, [main, ...process.argv.slice(2)], { stdio: "inherit" });
process.exit(child.status ?? 130);
