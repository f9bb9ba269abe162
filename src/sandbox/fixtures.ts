import type { GuestFailureCode } from "./sandbox.ts";

/** A hostile program, harmless until the action `now`, and the codes its failure may have. */
export interface HostileFixture {
  readonly name: string;
  readonly codes: readonly GuestFailureCode[];
  readonly source: string;
  /** How often it must be called with `now` until a limit is reached; 1 where absent. */
  readonly turns?: number;
}

/** A well-behaved game whose observations show its hidden state: any disturbance shows. */
export const healthySource = `
import random

class Walk:
    shared = []

    def reset(self, seed=None):
        self.rng = random.Random(seed)
        self.path = [self.rng.randrange(1000)]
        random.seed(seed)
        return f"start {self.path}", {}

    def step(self, action):
        self.path.append(self.rng.randrange(1000))
        self.shared.append(action)
        end = len(self.path) > 12
        return f"{action} {self.path} {random.random()} {len(self.shared)}", 1.0 if end else 0.0, end, False, {}

    def solution(self):
        return ["go"] * 12
`;

function game(body: string, setup = ""): string {
  const lines = body.split("\n").map((line) => `        ${line}`);
  return `${setup}
class Hostile(TextGame):
    max_turns = 100
    def reset(self, seed=None):
        self.start(seed)
        self.kept = []
        return self.show("ready")
    def step(self, action):
        if action != "now":
            return self.tell("waiting")
${lines.join("\n")}
        return self.tell("survived")
`;
}

/** One fixture or more for each code a running program can fail with. */
export const hostileFixtures: readonly HostileFixture[] = [
  { name: "spins", codes: ["fuel"], source: game("while True: pass") },
  { name: "spins and swallows every exception", codes: ["fuel"], source: game("while True:\n    try:\n        while True: pass\n    except BaseException: pass\n    finally: pass") },
  { name: "regex blow-up", codes: ["fuel", "timeout"], source: game("re.match(r'(a+)+$', 'a' * 40 + 'b')", "import re") },
  { name: "C loop without signal checks", codes: ["timeout"], source: game("sum(range(10 ** 12))") },
  { name: "bignum blow-up", codes: ["timeout", "memory", "fuel"], source: game("x = 7 ** (10 ** 7)\nx * x * x") },
  { name: "endless generator", codes: ["fuel", "timeout"], source: game("import itertools\nfor _ in itertools.count(): pass") },
  { name: "allocates 10 MB at a time", codes: ["memory"], source: game("while True: self.kept.append(bytearray(10 ** 7))") },
  { name: "one huge allocation", codes: ["memory"], source: game("self.kept = bytearray(2 * 10 ** 9)") },
  { name: "prints floods", codes: ["output"], source: game("while True: print('x' * 100000)") },
  { name: "huge observation", codes: ["output"], source: game("return self.tell('x' * 10 ** 6)") },
  { name: "sys.exit", codes: ["exit"], source: game("sys.exit(0)", "import sys") },
  { name: "os._exit", codes: ["exit"], source: game("os._exit(0)", "import os") },
  { name: "os.abort", codes: ["exit"], source: game("os.abort()", "import os") },
  { name: "forks", codes: ["denied", "raise"], source: game("if os.fork() == 0:\n    while True: time.sleep(1)", "import os, time") },
  { name: "starts a process", codes: ["denied"], source: game("import subprocess\nsubprocess.Popen(['sleep', '60'])") },
  { name: "starts a shell, hides the refusal", codes: ["denied"], source: game("try: os.system('sleep 60')\nexcept BaseException: pass", "import os") },
  { name: "deep recursion", codes: ["raise"], source: game("def f(): f()\nf()") },
  { name: "recursion through C slots", codes: ["raise"], source: game("sys.setrecursionlimit(10 ** 9)\nclass A:\n    def __eq__(self, other): return self == other\nA() == A()", "import sys") },
  { name: "raises", codes: ["raise"], source: game("1 / 0") },
  { name: "NaN reward", codes: ["protocol"], source: game("return 'x', float('nan'), False, False, {}") },
  { name: "four values", codes: ["protocol"], source: game("return 'x', 0.0, False, {}") },
  { name: "observation is not text", codes: ["protocol"], source: game("return 7, 0.0, False, False, {}") },
  { name: "opens a file", codes: ["denied"], source: game("open('/etc/passwd').read()") },
  { name: "exception whose text hangs", codes: ["fuel"], source: game("class E(Exception):\n    def __str__(self):\n        while True: pass\nraise E()") },
  { name: "breaks the driver", codes: ["protocol", "raise"], source: game("import sys\nsys.modules['spade_driver']._chunks = lambda value, indent: ['nonsense']") },
  { name: "forges a reply", codes: ["protocol"], source: game("import sys\nsys.modules['spade_driver']._chunks = lambda value, indent: ['{\"ok\": true, \"value\": {\"observation\": \"x\", \"reward\": 1e9}}']") },
];

/** Hostile programs that aim at others rather than at themselves, or at limits from below. */
export const patientFixtures: readonly HostileFixture[] = [
  { name: "slow drip of fuel", turns: 12, codes: ["episode-fuel"], source: game("for _ in range(2_250_000): pass") },
  { name: "slow drip of memory", turns: 40, codes: ["memory", "episode-fuel"], source: game("self.kept.append(bytearray(4 * 10 ** 6))") },
  { name: "slow drip of output", codes: ["output", "fuel"], source: game("while True: print('drop')") },
  { name: "signal games", codes: ["fuel", "denied", "raise"], source: game("import _signal\nfor n in range(1, 30):\n    try: _signal.signal(n, lambda *a: None)\n    except Exception: pass\n_signal.raise_signal(_signal.SIGINT)\nwhile True: pass") },
  { name: "alarm clock", codes: ["denied", "raise"], source: game("import _signal\n_signal.setitimer(_signal.ITIMER_REAL, 0.001)\n1 / 0") },
  { name: "kills its parent", codes: ["denied", "raise"], source: game("os.kill(os.getppid(), 9)\n1 / 0", "import os") },
  { name: "kills its process group", codes: ["denied", "raise"], source: game("os.killpg(0, 9)\n1 / 0", "import os") },
  { name: "empties every object it finds", codes: ["fuel", "raise", "protocol", "denied", "exit"], source: game("for o in gc.get_objects():\n    try: vars(o).clear() if type(o).__module__ not in ('builtins',) else None\n    except BaseException: pass\nwhile True: pass", "import gc") },
  { name: "patches the shared library", codes: ["fuel", "raise", "protocol"], source: game("random.Random.randrange = lambda *a: 4\nrandom.Random.random = lambda *a: 0.5\nrandom.seed = lambda *a: None\nbuiltins.len = lambda x: 0\nwhile True: pass", "import random, builtins") },
  { name: "colliding hashes", codes: ["fuel", "timeout"], source: game("class H(int): __hash__ = lambda self: 1\nd = {}\nfor i in range(10 ** 6): d[H(i)] = i") },
  { name: "comparison that never ends", codes: ["fuel"], source: game("class L:\n    def __lt__(self, other):\n        while True: pass\nsorted([L(), L()])") },
  { name: "finalizer that never ends", codes: ["fuel"], source: game("class D:\n    def __del__(self):\n        while True: pass\nd = D()\ndel d") },
  { name: "context that swallows", codes: ["fuel"], source: game("class C:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\nwhile True:\n    with C():\n        while True: pass") },
  { name: "text that lies about its length", codes: ["output", "protocol"], source: game("class S(str):\n    def __len__(self): return 3\nreturn S('x' * 10 ** 6), 0.0, False, False, {}") },
  { name: "compressed bomb", codes: ["memory", "raise"], source: game("b = zlib.compress(b'0' * 10 ** 6)\nself.kept = b''.join([zlib.decompress(b)] * 1000)", "import zlib") },
  { name: "digits without end", codes: ["timeout", "fuel"], source: game("sys.set_int_max_str_digits(0)\nstr(1 << (4 * 10 ** 7))", "import sys") },
  { name: "starts threads", codes: ["raise", "denied"], source: game("while True: _thread.start_new_thread(print, ())", "import _thread") },
];
