import type { HostileFixture } from "./fixtures.ts";

/** A well-behaved game whose observations show its hidden state: any disturbance shows. */
export const healthyTypeScript = `
const shared: string[] = [];
let resets = 0;

interface Result { observation: string; reward: number; terminated: boolean; truncated: boolean }

export default class WalkGame {
  private path: number[] = [];
  rng!: Random;

  reset(seed: number): { observation: string; info?: object } {
    this.rng = new Random(seed);
    this.path = [this.rng.int(0, 999)];
    resets += 1;
    return { observation: \`start \${this.path} \${resets}\`, info: { seed } };
  }

  step(action: string): Result {
    this.path.push(this.rng.int(0, 999));
    shared.push(action);
    const end = this.path.length > 12;
    return { observation: \`\${action} \${this.path} \${Math.random()} \${shared.length} \${Date.now()}\`, reward: end ? 1 : 0, terminated: end, truncated: false };
  }

  solution(): string[] {
    return Array.from({ length: 12 }, () => "go");
  }
}
`;

function game(body: string): string {
  return `
export default class Hostile extends TextGame {
  maxTurns = 100;
  kept: any[] = [];
  reset(seed: number) { this.start(seed); return this.show("ready"); }
  step(action: string): any {
    if (action !== "now") return this.tell("waiting");
    ${body}
    return this.tell("survived");
  }
}
`;
}

/** Hostile TypeScript programs, harmless until the action \`now\`. */
export const hostileTypeScript: readonly HostileFixture[] = [
  { name: "spins", codes: ["fuel"], source: game("while (true);") },
  { name: "spins and swallows every exception", codes: ["fuel"], source: game("for (;;) { try { for (;;); } catch {} finally { continue; } }") },
  { name: "regex blow-up", codes: ["fuel", "timeout"], source: game("/^(a+)+$/.test('a'.repeat(60) + 'b');") },
  { name: "regex blow-up by alternatives", codes: ["fuel", "timeout"], source: game("/^(?:a|aa|a?a)*$/.test('a'.repeat(80) + 'b');") },
  { name: "C loop without checks", codes: ["timeout", "fuel"], source: game("Array.prototype.splice.call({ length: 2 ** 53 - 1, 0: 1 } as any, 0, 1);") },
  { name: "promise loop", codes: ["fuel"], source: game("const again = (): any => Promise.resolve().then(again); again();") },
  { name: "async loop", codes: ["fuel"], source: game("(async () => { for (;;) await null; })();") },
  { name: "microtasks that breed", codes: ["fuel", "memory"], source: game("const breed = () => { queueMicrotask(breed); queueMicrotask(breed); }; breed();") },
  { name: "endless generator", codes: ["fuel"], source: game("function* all() { let i = 0; for (;;) yield i++; } for (const _ of all());") },
  { name: "getter that never ends", codes: ["fuel"], source: game("return { get observation() { for (;;); }, reward: 0, terminated: false, truncated: false };") },
  { name: "error whose text hangs", codes: ["fuel"], source: game("throw Object.assign(new Error(), { get message() { for (;;); } }) && Object.defineProperty(new Error(), 'message', { get() { for (;;); } });") },
  { name: "bignum blow-up", codes: ["timeout", "memory", "fuel", "raise"], source: game("let x = 7n ** 100000n; for (;;) x *= x;") },
  { name: "allocates 10 MB at a time", codes: ["memory"], source: game("for (;;) this.kept.push(new Uint8Array(1e7).fill(1));") },
  { name: "allocates and swallows the error", codes: ["memory", "fuel"], source: game("for (;;) { try { for (;;) this.kept.push(new Array(1000).fill(0)); } catch {} }") },
  { name: "one huge allocation", codes: ["memory", "raise"], source: game("this.kept.push(new ArrayBuffer(2e9));") },
  { name: "doubles a string", codes: ["memory", "raise"], source: game("let s = 'x'; for (;;) { s += s; this.kept.push(s + 1); }") },
  { name: "prints floods", codes: ["output"], source: game("for (;;) console.log('x'.repeat(100000));") },
  { name: "prints floods, swallows the error", codes: ["output", "fuel"], source: game("for (let i = 0; i < 100; i++) try { console.log('x'.repeat(100000)); } catch {}") },
  { name: "huge observation", codes: ["output"], source: game("return this.tell('x'.repeat(1e6));") },
  { name: "huge message", codes: ["raise", "output"], source: game("throw new Error('x'.repeat(1e7));") },
  { name: "deep recursion", codes: ["raise"], source: game("const f = (): any => f() + 1; f();") },
  { name: "recursion through native callbacks", codes: ["raise"], source: game("const f = (): any => [2, 1].sort(f); f();") },
  { name: "recursion through proxies", codes: ["raise"], source: game("let p: any = {}; for (let i = 0; i < 1e4; i++) p = new Proxy(p, {}); p.x;") },
  { name: "throws a value", codes: ["raise"], source: game("throw { toString() { throw 1; } };") },
  { name: "imports", codes: ["denied"], source: game("import('node:fs').catch(() => 0);") },
  { name: "NaN reward", codes: ["protocol"], source: game("return { observation: 'x', reward: NaN, terminated: false, truncated: false };") },
  { name: "a tuple", codes: ["protocol"], source: game("return ['x', 0, false, false, {}];") },
  { name: "a promise", codes: ["protocol"], source: game("return Promise.resolve(this.tell('x'));") },
  { name: "observation is not text", codes: ["protocol"], source: game("return { observation: 7, reward: 0, terminated: false, truncated: false };") },
  { name: "forges a reply", codes: ["protocol"], source: game("(Object.prototype as any).toJSON = function () { return 7; };") },
];
