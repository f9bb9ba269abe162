import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { skyrlEnvironment } from "./environment.ts";

/** `npm run test:skyrl`: a real Tinker server on this machine's CPU, and the tests against it. In CI, a machine that cannot run it is no failure, but said. */
const inCi = process.env["CI"] === "true" && process.env["SPADE_SKYRL"] !== "1";
const say = (text: string): void => void process.stdout.write(`${text}\n`);

if (process.env["SPADE_SKYRL"] === "0") {
  say("SkyRL: NOT RUN: SPADE_SKYRL is 0.");
} else {
  const environment = await skyrlEnvironment((inCi ? 6 : 30) * 60_000, say);
  if ("missing" in environment) {
    say(`SkyRL: NOT RUN: ${environment.missing}.${inCi ? "" : " See docs/engines.md."}`);
    process.exitCode = inCi ? 0 : 1;
  } else {
    const { status } = spawnSync("vitest", ["run", "--config", join(import.meta.dirname, "vitest.config.ts"), ...process.argv.slice(2)], { stdio: "inherit", env: { ...process.env, SPADE_SKYRL_PYTHON: environment.python } });
    process.exitCode = status ?? 1;
  }
}
