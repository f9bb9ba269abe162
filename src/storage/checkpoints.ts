import { createHash } from "node:crypto";
import { closeSync, createReadStream, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { z } from "zod";
import { canonicalJson, sha256 } from "../core/digest.ts";
import { SpadeError, messageOf } from "../core/errors.ts";
import { atStorageBoundary, storageError } from "./errors.ts";

const manifestName = "manifest.json";
const manifestSchema = z.strictObject({
  iteration: z.int(),
  policyVersion: z.int(),
  pinned: z.boolean(),
  files: z.record(z.string(), z.strictObject({ bytes: z.int(), sha256: z.string() })),
});

type Manifest = z.output<typeof manifestSchema>;

/** A whole checkpoint on disk: `<run>/checkpoints/<iteration, six digits>/`. */
export interface Checkpoint {
  readonly name: string;
  readonly directory: string;
  readonly iteration: number;
  readonly policyVersion: number;
  /** Never pruned. */
  readonly pinned: boolean;
  /** SHA-256 of the manifest, which holds the digest of each file. */
  readonly digest: string;
}

export interface SaveOptions {
  readonly iteration: number;
  readonly policyVersion: number;
  readonly pinned: boolean;
  /** Writes the checkpoint's files, flat, into an existing empty directory. */
  readonly write: (directory: string) => Promise<void>;
}

/**
 * Saves a checkpoint atomically: written aside, flushed, then renamed, so that a crash leaves the old state or the new, never half.
 * A checkpoint of an earlier attempt at the same iteration is replaced. @throws storage.write
 */
export async function saveCheckpoint(runDirectory: string, options: SaveOptions): Promise<Checkpoint> {
  const root = join(runDirectory, "checkpoints");
  const name = String(options.iteration).padStart(6, "0");
  const draft = join(root, `.tmp-${name}`);
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft, { recursive: true });
    await options.write(draft);
    const manifest: Manifest = { iteration: options.iteration, policyVersion: options.policyVersion, pinned: options.pinned, files: await describeFiles(draft) };
    writeFileSync(join(draft, manifestName), canonicalJson(manifest));
    for (const file of readdirSync(draft)) flush(join(draft, file));
    flush(draft);
    replaceDirectory(draft, join(root, name), join(root, `.tmp-old-${name}`));
    flush(root);
    return toCheckpoint(root, name, manifest);
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw storageError(draft, error);
  }
}

/** The newest checkpoint that passes verification, with the errors of newer ones that did not. */
export interface FoundCheckpoint {
  /** Absent when no checkpoint is usable: start from the initial model. */
  readonly checkpoint?: Checkpoint;
  /** One `storage.checkpoint` error per damaged checkpoint passed over, newest first; to be shown. */
  readonly damaged: readonly SpadeError[];
}

/** Finds the newest usable checkpoint at or before iteration `atMost`; reads and verifies every file of it. */
export async function findCheckpoint(runDirectory: string, atMost: number): Promise<FoundCheckpoint> {
  const root = join(runDirectory, "checkpoints");
  const damaged: SpadeError[] = [];
  for (const name of checkpointNames(root).reverse()) {
    if (Number(name) > atMost) continue;
    try {
      return { checkpoint: await verifyCheckpoint(join(root, name)), damaged };
    } catch (error) {
      if (!(error instanceof SpadeError)) throw error;
      damaged.push(error);
    }
  }
  return { damaged };
}

/** The kept checkpoints of a run, oldest first, unverified. @throws storage.checkpoint when a manifest is damaged */
export function listCheckpoints(runDirectory: string): Checkpoint[] {
  const root = join(runDirectory, "checkpoints");
  return checkpointNames(root).map((name) => toCheckpoint(root, name, readManifest(join(root, name))));
}

/** Verifies every file of a checkpoint against its manifest. @throws storage.checkpoint */
export async function verifyCheckpoint(directory: string): Promise<Checkpoint> {
  const manifest = readManifest(directory);
  for (const [file, expected] of Object.entries(manifest.files)) {
    const path = join(directory, file);
    if (!existsSync(path)) throw damage(directory, `${file} is missing`);
    const { size } = statSync(path);
    if (size !== expected.bytes) throw damage(directory, `${file} has ${size} bytes instead of ${expected.bytes}`);
    if ((await digestFile(path)) !== expected.sha256) throw damage(directory, `the contents of ${file} do not match their digest`);
  }
  const slash = directory.lastIndexOf("/") + 1;
  return toCheckpoint(directory.slice(0, slash), directory.slice(slash), manifest);
}

/**
 * Removes checkpoints at or before `committed` except the `keep` (at least 2) newest and pinned ones. Call after the commit
 * of the iteration that relies on the newest one. @throws storage.write
 */
export function pruneCheckpoints(runDirectory: string, options: { readonly keep: number; readonly committed: number }): void {
  const root = join(runDirectory, "checkpoints");
  const names = checkpointNames(root).filter((name) => Number(name) <= options.committed);
  for (const name of names.slice(0, -Math.max(2, options.keep))) {
    const directory = join(root, name);
    if (isPinned(directory)) continue;
    const doomed = join(root, `.tmp-old-${name}`);
    atStorageBoundary(directory, () => {
      rmSync(doomed, { recursive: true, force: true });
      renameSync(directory, doomed);
      rmSync(doomed, { recursive: true });
    });
  }
}

/** Removes what crashes left: unfinished and replaced checkpoints. @throws storage.write */
export function removeLeftovers(runDirectory: string): void {
  const root = join(runDirectory, "checkpoints");
  if (!existsSync(root)) return;
  for (const name of readdirSync(root).filter((entry) => entry.startsWith(".tmp-"))) {
    atStorageBoundary(root, () => rmSync(join(root, name), { recursive: true }));
  }
}

/** Names of finished checkpoints, oldest first. */
function checkpointNames(root: string): string[] {
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => /^\d+$/.test(name))
    .sort((a, b) => Number(a) - Number(b));
}

function readManifest(directory: string): Manifest {
  const path = join(directory, manifestName);
  if (!existsSync(path)) throw damage(directory, `${manifestName} is missing`);
  try {
    return manifestSchema.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch (cause) {
    throw damage(directory, `${manifestName} cannot be read: ${messageOf(cause)}`, cause);
  }
}

function isPinned(directory: string): boolean {
  try {
    return readManifest(directory).pinned;
  } catch (error) {
    if (error instanceof SpadeError) return false;
    throw error;
  }
}

function damage(directory: string, finding: string, cause?: unknown): SpadeError {
  return new SpadeError("storage.checkpoint", `Checkpoint ${directory} is damaged: ${finding}. An older checkpoint is used if there is one; the iterations after it are made again.`, {
    details: { directory, finding },
    cause,
  });
}

async function describeFiles(directory: string): Promise<Manifest["files"]> {
  const files: Manifest["files"] = {};
  for (const file of readdirSync(directory).sort()) {
    const path = join(directory, file);
    files[file] = { bytes: statSync(path).size, sha256: await digestFile(path) };
  }
  return files;
}

async function digestFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Puts `from` in the place of `to`, moving what was there aside first. */
function replaceDirectory(from: string, to: string, aside: string): void {
  rmSync(aside, { recursive: true, force: true });
  if (existsSync(to)) renameSync(to, aside);
  renameSync(from, to);
  rmSync(aside, { recursive: true, force: true });
}

function flush(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function toCheckpoint(root: string, name: string, manifest: Manifest): Checkpoint {
  const { iteration, policyVersion, pinned } = manifest;
  return { name, directory: join(root, name), iteration, policyVersion, pinned, digest: sha256(canonicalJson(manifest)) };
}
