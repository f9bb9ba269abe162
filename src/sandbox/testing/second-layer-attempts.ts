import { dirname, join } from "node:path";
import type { Targets } from "../escape-probes.ts";

/**
 * What code that has escaped the interpreter could try in the child's own Node, by name: bodies of an async JavaScript function
 * with `SECRET`, `OUT`, `SOCKET` (paths) and `PORT` in scope.
 */
export const escapedAttempts: Readonly<Record<string, string>> = {
  "read a file": `return require("fs").readFileSync(SECRET, "utf8")`,
  "read a file by promises": `return require("fs/promises").readFile(SECRET, "utf8")`,
  "read a file as a stream": `return (await require("fs").createReadStream(SECRET).toArray()).join("")`,
  "read a file through getBuiltinModule": `return process.getBuiltinModule("fs").readFileSync(SECRET, "utf8")`,
  "read a file as a module": `return require(SECRET)`,
  "import a file": `return import(SECRET)`,
  "read a file as an environment file": `return process.loadEnvFile(SECRET)`,
  "read a file beside its own by dots": `return require("fs").readFileSync(ALLOWED + "/../../../package.json", "utf8")`,
  "read a file through a buffer path": `return require("fs").readFileSync(Buffer.from(SECRET), "utf8")`,
  "read a file through a URL": `return require("fs").readFileSync(require("url").pathToFileURL(SECRET), "utf8")`,
  "list a directory": `return require("fs").readdirSync("/")`,
  "read its environment from /proc": `return require("fs").readFileSync("/proc/self/environ", "utf8")`,
  "read its parent's memory": `return require("fs").openSync("/proc/" + process.ppid + "/mem", "r+")`,
  "open a device": `return require("fs").openSync("/dev/tty", "r+")`,
  "write a file": `require("fs").writeFileSync(OUT, "x")`,
  "append to a file": `require("fs").appendFileSync(SECRET, "x")`,
  "truncate a file": `require("fs").truncateSync(SECRET)`,
  "delete a file": `require("fs").unlinkSync(SECRET)`,
  "rename a file": `require("fs").renameSync(SECRET, OUT)`,
  "copy a file": `require("fs").cpSync(SECRET, OUT)`,
  "make a directory": `require("fs").mkdirSync(OUT)`,
  "make a symbolic link": `require("fs").symlinkSync(SECRET, OUT)`,
  "make a hard link": `require("fs").linkSync(SECRET, OUT)`,
  "change a file's mode": `require("fs").chmodSync(SECRET, 0)`,
  "change its own code": `return require("fs").openSync(ALLOWED + "/main.ts", "a")`,
  "write a heap snapshot": `require("v8").writeHeapSnapshot(OUT)`,
  "write a report": `process.report.writeReport(OUT)`,
  "write a trace": `require("trace_events").createTracing({ categories: ["v8"] }).enable()`,
  "write a database": `new (require("node:sqlite").DatabaseSync)(OUT).exec("create table t (x)")`,
  "write a database from memory": `new (require("node:sqlite").DatabaseSync)(":memory:").exec("vacuum into '" + OUT + "'")`,
  "start a process": `return require("child_process").execFileSync("touch", [OUT])`,
  "start a shell": `return require("child_process").execSync("touch " + OUT)`,
  "spawn a process": `return require("child_process").spawn("touch", [OUT])`,
  "fork Node": `return require("child_process").fork(ALLOWED + "/main.ts")`,
  "become another program": `return process.execve("/bin/touch", ["touch", OUT], {})`,
  "start a cluster": `return require("cluster").fork()`,
  "start a worker": `new (require("worker_threads").Worker)("1", { eval: true })`,
  "load an add-on": `process.dlopen({ exports: {} }, "/lib/x86_64-linux-gnu/libc.so.6")`,
  "require an add-on": `return require(OUT + ".node")`,
  "use WASI": `new (require("wasi").WASI)({ version: "preview1", preopens: { "/": "/" } })`,
  "open the inspector": `require("inspector").open(0)`,
  "start an inspector session": `new (require("inspector").Session)().connect()`,
  "call a library through FFI": `return require("node:ffi").dlopen("libc.so.6", { system: { arguments: ["pointer"], result: "int" } })`,
  "use internal bindings": `return process.binding("spawn_sync")`,
  "connect by TCP": `return new Promise((ok, no) => require("net").connect(PORT, "127.0.0.1").on("connect", () => ok("connected")).on("error", no))`,
  "connect to a UNIX socket": `return new Promise((ok, no) => require("net").connect(SOCKET).on("connect", () => ok("connected")).on("error", no))`,
  "connect by TLS": `return new Promise((ok, no) => require("tls").connect(PORT, "127.0.0.1", { rejectUnauthorized: false }).on("secureConnect", () => ok("connected")).on("error", no))`,
  "connect by HTTP": `return new Promise((ok, no) => require("http").get("http://127.0.0.1:" + PORT, ok).on("error", no))`,
  "connect by HTTP/2": `return new Promise((ok, no) => require("http2").connect("http://127.0.0.1:" + PORT).on("connect", () => ok("connected")).on("error", no))`,
  "fetch": `return (await fetch("http://127.0.0.1:" + PORT)).status`,
  "open a web socket": `return new Promise((ok, no) => { const socket = new WebSocket("ws://127.0.0.1:" + PORT); socket.onopen = () => ok("connected"); socket.onerror = (event) => no(Object.assign(new Error(event.message), { code: "ERR_WEB_SOCKET" })); })`,
  "send by UDP": `return new Promise((ok, no) => { const socket = require("dgram").createSocket("udp4"); socket.on("error", no); socket.send("x", PORT, "127.0.0.1", (error) => (error ? no(error) : ok("sent"))); })`,
  "listen by TCP": `return new Promise((ok, no) => { const server = require("net").createServer(); server.on("error", no); server.listen(0, () => ok("listening")); })`,
  "listen by UDP": `return new Promise((ok, no) => { const socket = require("dgram").createSocket("udp4"); socket.on("error", no); socket.bind(0, () => ok("bound")); })`,
  "look up a host": `return require("dns/promises").lookup("localhost")`,
  "ask a name server": `return require("dns/promises").resolve("example.invalid")`,
  "give itself permissions": `process.permission.has = () => true; return require("fs").readFileSync(SECRET, "utf8")`,
  "patch away the checks": `require("fs").openSync = () => 0; Object.prototype.hasOwnProperty = () => true; return require("fs").readFileSync(SECRET, "utf8")`,
};

/** What the attempts find in scope: canaries, and a directory they may read. */
export function escapedNames({ secretFile, outputFile, port }: Targets, allowed: string): Readonly<Record<string, string | number>> {
  return { SECRET: secretFile, OUT: outputFile, PORT: port, SOCKET: join(dirname(secretFile), "socket"), ALLOWED: allowed };
}

/** JavaScript that makes these attempts and prints one JSON object: what became of each, by name. */
export function escapedProgram(names: Readonly<Record<string, string | number>>, which = Object.keys(escapedAttempts)): string {
  const constants = Object.entries(names).map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`);
  const attempts = which.map((name) => `${JSON.stringify(name)}: async () => { ${escapedAttempts[name] ?? ""} }`);
  return `
    ${constants.join(" ")}
    const attempts = { ${attempts.join(",\n")} };
    const results = {};
    const late = (ms) => new Promise((_, no) => setTimeout(() => no(Object.assign(new Error("no answer"), { code: "LATE" })), ms));
    const codeOf = (error) => error.code ?? error.cause?.code ?? error.errors?.[0]?.code ?? error.name;
    process.on("uncaughtException", () => undefined);
    (async () => {
      for (const [name, attempt] of Object.entries(attempts)) {
        try { results[name] = "did " + String(await Promise.race([attempt(), late(5000)])); } catch (error) { results[name] = "denied " + codeOf(error); }
      }
      require("fs").writeSync(1, JSON.stringify(results));
      process.exit(0);
    })();`;
}
