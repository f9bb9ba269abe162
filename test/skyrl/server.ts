import { type ChildProcess, spawn } from "node:child_process";
import { openSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

export interface ServerOptions {
  /** Of the virtual environment. */
  readonly python: string;
  readonly model: string;
  /** For the database, the checkpoints and the log; a server started on it again knows what was saved. */
  readonly directory: string;
  readonly port: number;
}

/** Settings of the JAX backend: few shapes, since each one is compiled: rows are trained on one by one. Slot 0 is the base model's. */
const backend = { max_lora_adapters: 6, max_lora_rank: 8, train_micro_batch_size: 1, sample_max_num_sequences: 16, loss_chunk_size: 0 };

const readyMs = 180_000;

/** SkyRL's Tinker server, unmodified and started as its documentation says, in a process group of its own. */
export class SkyRl implements AsyncDisposable {
  readonly options: ServerOptions;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;

  private constructor(options: ServerOptions, child: ChildProcess) {
    this.options = options;
    this.#child = child;
    this.#ended = new Promise((resolve) => child.once("exit", () => resolve()));
  }

  /** Starts a server and waits until it answers. */
  static async start(options: ServerOptions): Promise<SkyRl> {
    const { python, model, directory, port } = options;
    const bin = dirname(python);
    const log = openSync(join(directory, "server.log"), "a");
    const child = spawn(
      join(bin, "uv"),
      [
        ...["run", "--no-project", "--offline", "-m", "skyrl.tinker.api", "--base-model", model, "--backend", "jax", "--backend-config", JSON.stringify(backend)],
        ...["--database-url", `sqlite:///${join(directory, "server.db")}`, "--checkpoints-base", join(directory, "checkpoints"), "--host", "127.0.0.1", "--port", String(port)],
      ],
      { cwd: directory, detached: true, stdio: ["ignore", log, log], env: environment(dirname(bin)) },
    );
    const server = new SkyRl(options, child);
    killOnExit(child);
    try {
      await server.#ready();
      return server;
    } catch (error) {
      await server.kill();
      throw error;
    }
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.options.port}`;
  }

  get log(): string {
    return readFileSync(join(this.options.directory, "server.log"), "utf8");
  }

  /** Ends the server and its engine at once, as a crash does. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** The signal goes to the whole group; who is left after 20 s is killed. */
  async #end(signal: NodeJS.Signals): Promise<void> {
    const { pid } = this.#child;
    if (pid === undefined || !groupLives(pid)) return;
    process.kill(-pid, signal);
    await this.#ended;
    for (let waited = 0; groupLives(pid); waited += 100) {
      if (waited === 20_000) process.kill(-pid, "SIGKILL");
      await sleep(100);
    }
  }

  async #ready(): Promise<void> {
    const start = performance.now();
    for (;;) {
      if (this.#child.exitCode !== null || performance.now() - start > readyMs) throw new Error(`The server did not start. Its log ends: ${this.log.slice(-2000)}`);
      const answer = await fetch(`${this.baseUrl}/api/v1/healthz`).catch(() => undefined);
      if (answer?.ok === true) return;
      await sleep(250);
    }
  }
}

/** Nothing from a hub, nothing but the CPU. */
function environment(venv: string): NodeJS.ProcessEnv {
  const { PATH = "", HOME = "" } = process.env;
  return { PATH: `${join(venv, "bin")}:${PATH}`, HOME, VIRTUAL_ENV: venv, JAX_PLATFORMS: "cpu", HF_HUB_OFFLINE: "1", TOKENIZERS_PARALLELISM: "false", JAX_COMPILATION_CACHE_DIR: join(venv, "jax-cache"), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: "0" };
}

/** When the tests end early, the server must not outlive them. */
function killOnExit({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  const kill = (): void => {
    if (groupLives(pid)) process.kill(-pid, "SIGKILL");
  };
  for (const event of ["exit", "disconnect"] as const) process.once(event, kill);
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      kill();
      process.exit(1);
    });
  }
}

function groupLives(group: number): boolean {
  try {
    process.kill(-group, 0);
    return true;
  } catch {
    return false;
  }
}

/** A port of loopback that is free now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port"))));
    });
  });
}
