import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { escapeProbes, steadyProbes, type Probe } from "./escape-probes.ts";
import { encodeFrame, FrameReader } from "./frames.ts";
import { childArguments, childDirectory, childEnvironment, ensureImage, pyodideDirectory, quickJsFiles, type Image } from "./image.ts";
import { defaultLimits } from "./limits.ts";
import type { Reply, Request } from "./messages.ts";
import { testCache } from "./test-sandbox.ts";
import { Canaries } from "./testing/canaries.ts";

vi.setConfig({ testTimeout: 120_000 });
let canaries: Canaries;
let image: Image;
beforeAll(async () => {
  canaries = await Canaries.lay();
  image = await ensureImage(testCache);
}, 180_000);
afterEach(() => canaries.reset());
afterAll(() => canaries.remove());

const testingDirectory = join(import.meta.dirname, "testing");
const mutant = join(testingDirectory, "open-gate-child.ts");
const original = join(childDirectory, "main.ts");

interface Start {
  readonly entry: string;
  /** The import left open. */
  readonly open: string;
  readonly hasSecondLayer: boolean;
}

/** What each probe said in one new child. */
async function sayings(probes: readonly Probe[], { entry, open, hasSecondLayer }: Start): Promise<string[]> {
  const options = JSON.stringify({ ...image, imagePath: image.path, directory: pyodideDirectory, quickJs: quickJsFiles, memoryLimitBytes: 2 ** 26, limits: defaultLimits, open, openImports: [open], passedImports: [open] });
  const readable = [pyodideDirectory, image.path, import.meta.dirname];
  const restrictions = hasSecondLayer ? childArguments(readable) : ["--no-warnings"];
  const progress = openSync(canaries.targets.secretFile.replace("secret.txt", "progress"), "w+");
  const child = spawn(process.execPath, [...restrictions, entry, options, open], { env: childEnvironment, stdio: ["ignore", "ignore", "inherit", progress, "pipe"] });
  const channel = child.stdio[4] as Duplex;
  const reader = new FrameReader(2 ** 26);
  const frames: unknown[] = [];
  channel.on("data", (chunk: Buffer) => frames.push(...reader.push(chunk)));
  const next = async (): Promise<unknown> => {
    while (frames.length === 0) await once(channel, "data");
    return frames.shift();
  };
  const ask = async (request: Request): Promise<string> => {
    channel.write(encodeFrame(request));
    return JSON.stringify(((await next()) as Reply).outcomes);
  };
  await next();
  const said: string[] = [];
  for (const [program, { source }] of probes.entries()) {
    const loaded = await ask({ kind: "load", program, language: "python", source });
    said.push(loaded + (await ask({ kind: "run", program, items: [{ op: "create", slot: 0, arg: 1, ordinal: 0 }], sliceMs: 1000 })));
    await ask({ kind: "unload", program });
  }
  channel.end();
  await once(child, "close");
  closeSync(progress);
  return said;
}

const named = (probes: readonly Probe[], names: RegExp): readonly Probe[] => probes.filter(({ name }) => names.test(name));
const systemProbes = (): readonly Probe[] => named(escapeProbes(canaries.targets), /^(os\.system|posix\.system|pickle reduce|pickle by global)$/);
const clockAndEntropy = (): readonly Probe[] => named(steadyProbes(canaries.targets), /^(wall clock|entropy)$/);

test("a gate that leaves the system function open fails the battery", async () => {
  const said = await sayings(systemProbes(), { entry: mutant, open: "_emscripten_system", hasSecondLayer: false });
  expect(said).toHaveLength(4);
  expect(canaries.effects(said.join("\n"))).toContain("it wrote a file");
});

test("behind the same open gate, the second layer stops the same probes", async () => {
  const said = await sayings(systemProbes(), { entry: mutant, open: "_emscripten_system", hasSecondLayer: true });
  for (const one of said) expect(one).toContain("Access to this API has been restricted. Use --allow-child-process");
  expect(canaries.effects(said.join("\n"))).toEqual([]);
});

test("a gate that leaves clock or entropy open fails the battery; a real child passes it, whatever options it is given", async () => {
  const real = await sayings([...systemProbes(), ...clockAndEntropy()], { entry: original, open: "_emscripten_system", hasSecondLayer: false });
  expect(canaries.effects(real.join("\n"))).toEqual([]);
  const [clock, entropy] = real.slice(-2).map(withoutCost);
  expect(clock).toContain("got");
  const openClock = (await sayings(clockAndEntropy(), { entry: mutant, open: "clock_time_get", hasSecondLayer: true })).map(withoutCost);
  expect([openClock[0] === clock, openClock[1] === entropy]).toEqual([false, true]);
  const openEntropy = (await sayings(clockAndEntropy(), { entry: mutant, open: "random_get", hasSecondLayer: true })).map(withoutCost);
  expect([openEntropy[0] === clock, openEntropy[1] === entropy]).toEqual([true, false]);
});

test("no code of the product starts a child with an open gate", () => {
  const root = join(import.meta.dirname, "..");
  const sources = readdirSync(root, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.filter((file) => readFileSync(join(root, file), "utf8").includes("open-gate-child"))).toEqual([]);
});

/** A child's answer without what the calls cost. */
function withoutCost(answer: string): string {
  return answer.replaceAll(/"(wallMs|fuel)":[\d.]+/g, "");
}
