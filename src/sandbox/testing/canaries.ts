import { randomUUID } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Targets } from "../escape-probes.ts";
import type { ObservedSandbox } from "../pool.ts";
import { descendantsOf, isRunning } from "../test-processes.ts";

/**
 * Things on the host that hostile code would touch: a secret in a file and in the environment, a file that must not appear,
 * a TCP, a UDP and a UNIX socket that nothing may reach, and the list of this process's descendants.
 */
export class Canaries {
  readonly secret: string;
  readonly targets: Targets;
  private readonly directory: string;
  private readonly close: () => void;
  private readonly contacts: string[];
  /** Descendants that were here before. */
  private readonly before = descendantsOf(process.pid);

  /** Lays them out in a new directory and on free ports; `remove` takes them away. */
  static async lay(): Promise<Canaries> {
    const secret = `canary-${randomUUID()}`;
    const directory = mkdtempSync(join(tmpdir(), "spade-canary-"));
    const contacts: string[] = [];
    const greet = (name: string) => (socket: Socket) => {
      contacts.push(name);
      socket.on("error", () => undefined).end(secret);
    };
    const servers = [createServer(greet("TCP")), createServer(greet("a UNIX socket"))] as [Server, Server];
    servers[0].listen(0, "127.0.0.1");
    servers[1].listen(join(directory, "socket"));
    await Promise.all(servers.map((server) => once(server, "listening")));
    const address = servers[0].address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const datagrams = createSocket("udp4", () => contacts.push("UDP")).bind(port, "127.0.0.1");
    await once(datagrams, "listening");
    const close = (): void => {
      for (const server of [...servers, datagrams]) server.close();
    };
    return new Canaries({ secret, directory, port, contacts, close });
  }

  private constructor(options: { secret: string; directory: string; port: number; contacts: string[]; close: () => void }) {
    this.secret = options.secret;
    this.directory = options.directory;
    this.close = options.close;
    this.contacts = options.contacts;
    this.targets = { secretFile: join(this.directory, "secret.txt"), outputFile: join(this.directory, "out.txt"), port: options.port };
    writeFileSync(this.targets.secretFile, this.secret);
    Object.assign(process.env, { SPADE_TEST_SECRET: this.secret }); // eslint-disable-line no-restricted-properties -- children must not inherit it
  }

  /** Effects on the host of code that could say `said`; empty when there is none. Processes other than `sandbox`'s children count. */
  effects(said: string, sandbox?: ObservedSandbox): string[] {
    const { secretFile, outputFile } = this.targets;
    const seen: readonly (readonly [boolean, string])[] = [
      [said.includes(this.secret), "it read the secret"],
      [/root:.*:0:0:/.test(said), "it read /etc/passwd"],
      [existsSync(outputFile), "it wrote a file"],
      [!existsSync(secretFile) || readFileSync(secretFile, "utf8") !== this.secret, "it changed a file"],
      [sandbox !== undefined && this.strangers(sandbox).length > 0, "it started a process"],
    ];
    return [...seen.flatMap(([happened, what]) => (happened ? [what] : [])), ...this.contacts.map((name) => `it reached ${name}`)];
  }

  /** Puts everything back as it was laid. */
  reset(): void {
    rmSync(this.targets.outputFile, { force: true });
    writeFileSync(this.targets.secretFile, this.secret);
    this.contacts.length = 0;
  }

  remove(): void {
    this.close();
    rmSync(this.directory, { recursive: true });
  }

  private strangers(sandbox: ObservedSandbox): number[] {
    const pids = sandbox.pids();
    // A child in bubblewrap is a descendant of what was spawned.
    const own = sandbox.isolation.bubblewrap.active ? pids.flatMap((pid) => [pid, ...descendantsOf(pid)]) : pids;
    return descendantsOf(process.pid).filter((pid) => !this.before.includes(pid) && !own.includes(pid) && isRunning(pid));
  }
}
