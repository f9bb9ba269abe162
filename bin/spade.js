#!/usr/bin/env node
// Starts the command line with the Node this package pins, whatever Node runs this file.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const main = fileURLToPath(new URL("../src/cli/main.ts", import.meta.url));
const node = join(dirname(createRequire(import.meta.url).resolve("node/package.json")), "bin", process.platform === "win32" ? "node.exe" : "node");
const child = spawn(node, [main, ...process.argv.slice(2)], { stdio: ["inherit", "inherit", "inherit", "ipc"] });
// A terminal sends Ctrl-C to both; what a program sends to this process is passed on, so that the run does not outlive it.
// The channel carries nothing: it closes when this process is gone, however it went.
process.on("SIGINT", () => {});
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("close", (status, signal) => process.exit(status ?? 128 + constants.signals[signal]));
