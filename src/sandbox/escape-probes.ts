import { hostProbeBodies, steadyProbeBodies } from "./host-probes.ts";

/** What a probe may aim at; all of it belongs to the test. */
export interface Targets {
  /** A file with a secret in it. */
  readonly secretFile: string;
  /** A path that must not come to exist. */
  readonly outputFile: string;
  /** A loopback port that must not be connected to. */
  readonly port: number;
}

/** Bodies of a Python function; what it returns becomes the observation. `SECRET`, `OUT`, `PORT` are its targets. */
const bodies: Readonly<Record<string, string>> = {
  "js module": "import js\nreturn js.process.env",
  "js by sys.modules": "import sys\nreturn sys.modules['js'].require('fs').readFileSync(SECRET)",
  "pyodide_js": "import pyodide_js\nreturn pyodide_js._api.loadBinaryFile(SECRET)",
  "pyodide run_js": "from pyodide.code import run_js\nreturn run_js('process.env')",
  "_pyodide eval_code": "from _pyodide._base import eval_code\nreturn eval_code('import os; os.system(\"touch ' + OUT + '\")')",
  "pyodide_js through importlib": "import importlib\nreturn importlib.import_module('pyodide_js')",
  "js finder from meta path": "import sys\nreturn [finder.find_spec('js') for finder in sys.meta_path]",
  "ctypes system": "import ctypes\nreturn ctypes.CDLL(None).system(('touch ' + OUT).encode())",
  "raw _ctypes dlsym": "import _ctypes\nreturn _ctypes.dlsym(_ctypes.dlopen(None, 0), 'emscripten_run_script')",
  "builtin importer for _ctypes": "import sys, importlib.machinery as m\nreturn m.BuiltinImporter.load_module('_ctypes').dlopen(None, 0)",
  "create_builtin": "import _imp, importlib.machinery as m\nreturn _imp.create_builtin(m.ModuleSpec('_ctypes', None)).dlopen(None, 0)",
  "dlsym of a fresh _ctypes": "import _imp, importlib.machinery as m\nc = _imp.create_builtin(m.ModuleSpec('_ctypes', None))\nreturn c.dlsym(c.dlopen(None, 0), 'emscripten_run_script')",
  "call through a fresh _ctypes": "import _imp, importlib.machinery as m\nc = _imp.create_builtin(m.ModuleSpec('_ctypes', None))\n_imp.exec_builtin(c)\nreturn [c.call_function(n, ()) for n in range(1, 400)]",
  "string_at of a fresh _ctypes": "import _imp, importlib.machinery as m\nc = _imp.create_builtin(m.ModuleSpec('_ctypes', None))\n_imp.exec_builtin(c)\nreturn c.call_cdeclfunction(c._string_at_addr, (0, 100))",
  "builtin importer for _socket": "import importlib.machinery as m\ns = m.BuiltinImporter.load_module('_socket').socket()\ns.connect(('127.0.0.1', PORT))\nreturn s",
  "builtin importer for _posixsubprocess": "import importlib.machinery as m\nreturn m.BuiltinImporter.load_module('_posixsubprocess')",
  "os.system": "import os\nreturn os.system('touch ' + OUT)",
  "posix.system": "import posix\nreturn posix.system('touch ' + OUT)",
  "os.popen": "import os\nreturn os.popen('cat ' + SECRET).read()",
  "os.exec": "import os\nreturn os.execv('/bin/sh', ['sh', '-c', 'touch ' + OUT])",
  "os.posix_spawn": "import os\nreturn os.posix_spawn('/bin/touch', ['touch', OUT], {})",
  "os.fork": "import os\nreturn os.fork()",
  "subprocess": "import subprocess\nreturn subprocess.check_output(['cat', SECRET])",
  "multiprocessing": "import multiprocessing as m\np = m.Process(target=print)\np.start()\nreturn p",
  "thread": "import threading\nt = threading.Thread(target=lambda: open(OUT, 'w'))\nt.start()\nt.join()\nreturn 'ran'",
  "open host file": "return open(SECRET).read()",
  "open for writing": "open(OUT, 'w').write('x')\nreturn 'written'",
  "io.FileIO": "import io\nreturn io.FileIO(SECRET).read()",
  "_io.open_code": "import _io\nreturn _io.open_code(SECRET).read()",
  "os.open and read": "import os\nreturn os.read(os.open(SECRET, os.O_RDONLY), 100)",
  "pathlib": "import pathlib\nreturn pathlib.Path(SECRET).read_text()",
  "listdir": "import os\nreturn os.listdir('/')",
  "proc environ": "return open('/proc/self/environ').read()",
  "proc cmdline": "return open('/proc/self/cmdline').read()",
  "etc passwd": "return open('/etc/passwd').read()",
  "dev urandom": "return open('/dev/urandom', 'rb').read(8).hex()",
  "dev stdout": "open('/dev/stdout', 'w').write('x' * 100)\nreturn 'written'",
  "write to the channel": "import os\nreturn [os.write(fd, b'\\x02\\x00\\x00\\x00{}') for fd in (1, 3, 4, 5)]",
  "read the channel": "import os\nreturn [os.read(fd, 10) for fd in (0, 3, 4)]",
  "remove": "import os\nos.remove(SECRET)\nreturn 'removed'",
  "rename": "import os\nos.rename(SECRET, OUT)\nreturn 'renamed'",
  "symlink": "import os\nos.symlink(SECRET, '/tmp/link')\nreturn open('/tmp/link').read()",
  "mkdir": "import os\nos.mkdir(OUT)\nreturn 'made'",
  "chdir and relative": "import os\nos.chdir('/')\nreturn open(SECRET.lstrip('/')).read()",
  "fd paths": "return open('/dev/fd/4').read()",
  "environ": "import os\nreturn dict(os.environ)",
  "environ through posix": "import posix\nreturn posix.environ",
  "socket": "import socket\nreturn socket.create_connection(('127.0.0.1', PORT))",
  "urllib": "import urllib.request\nreturn urllib.request.urlopen('http://127.0.0.1:%d' % PORT).read()",
  "http.client": "import http.client\nc = http.client.HTTPConnection('127.0.0.1', PORT)\nc.request('GET', '/')\nreturn c.getresponse()",
  "asyncio": "import asyncio\nreturn asyncio.run(asyncio.open_connection('127.0.0.1', PORT))",
  "zipimport": "import zipimport\nreturn zipimport.zipimporter('/lib/python314.zip').load_module('ctypes')",
  "source loader": "import importlib.machinery as m\nreturn m.SourceFileLoader('x', SECRET).get_data(SECRET)",
  "restored import hooks": "import sys, importlib.machinery as m\nsys.meta_path.insert(0, m.PathFinder)\nsys.path.append('/lib/python314.zip')\nimport ctypes\nreturn ctypes.CDLL(None)",
  "own import hook": "import sys\nclass F:\n  @staticmethod\n  def find_spec(n, p=None, t=None): return None\nsys.meta_path[:] = [F]\nimport js\nreturn js",
  "class walk to a loader": "return [c for c in object.__subclasses__() if 'Loader' in c.__name__][0]().get_data(SECRET)",
  "class walk to JsProxy": "found = [c for c in object.__subclasses__() if 'Js' in c.__name__]\nreturn [c() for c in found]",
  "gc walk to JsProxies": "import gc\nfound = [o for o in gc.get_objects() if 'Js' in type(o).__name__]\nreturn [getattr(o, 'constructor').constructor('return process')() for o in found]",
  "gc referents": "import gc, sys\nseen, todo = set(), [sys]\nhits = []\nwhile todo and len(seen) < 100000:\n  o = todo.pop()\n  if id(o) in seen: continue\n  seen.add(id(o))\n  if 'Js' in type(o).__name__: hits.append(o)\n  todo.extend(gc.get_referents(o))\nreturn [h.constructor.constructor('return process.env')() for h in hits]",
  "frames of the driver": "import sys\nf = sys._getframe()\nwhile f.f_back: f = f.f_back\nreturn [k for k in f.f_globals if 'js' in k.lower()] and f.f_globals['open'](SECRET).read()",
  "code object trampoline": "import types\nc = (lambda: 0).__code__.replace(co_code=bytes([1, 0] * 50), co_stacksize=1000)\nreturn types.FunctionType(c, {})()",
  "pickle reduce": "import pickle, os\nclass P:\n  def __reduce__(self): return (os.system, ('touch ' + OUT,))\nreturn pickle.loads(pickle.dumps(P()))",
  "marshal garbage": "import marshal\nreturn exec(marshal.loads(b'\\xe3' + bytes(range(256)) * 4))",
  "breakpoint": "breakpoint()\nreturn 'broke'",
  "atexit": "import atexit\natexit.register(lambda: open(OUT, 'w'))\nraise SystemExit",
  "signal handler": "import _signal\n_signal.signal(_signal.SIGINT, lambda *a: open(OUT, 'w'))\n_signal.raise_signal(_signal.SIGINT)\nreturn 'raised'",
  "kill the parent": "import os\nos.kill(os.getppid(), 9)\nreturn 'killed'",
  "setitimer": "import _signal\nreturn _signal.setitimer(_signal.ITIMER_REAL, 0.01)",
  "dlopen flags": "import sys, _imp, importlib.machinery as m\nreturn _imp.create_dynamic(m.ModuleSpec('x', None, origin=SECRET))",
  "extension loader": "import importlib.machinery as m\nreturn m.ExtensionFileLoader('x', '/lib/x.so').create_module(m.ModuleSpec('x', None, origin='/lib/x.so'))",
  "faulthandler": "import faulthandler\nfaulthandler._sigsegv()\nreturn 'alive'",
  "abort": "import os\nos.abort()",
  "eval of a huge literal": "return eval('(' * 5000 + ')' * 5000)",
};

/** A program that runs the probe in `reset` and shows what it returned or raised. */
function program(body: string, targets: Targets): string {
  const indented = body.split("\n").map((line) => `    ${line}`);
  return [
    `SECRET, OUT, PORT = ${JSON.stringify(targets.secretFile)}, ${JSON.stringify(targets.outputFile)}, ${targets.port}`,
    "def probe():",
    ...indented,
    "class Probe(TextGame):",
    "    def reset(self, seed=None):",
    "        return 'got ' + repr(probe())[:2000]",
    "    def step(self, action):",
    "        return self.finish(False)",
  ].join("\n");
}

/** A probe as a program. */
export interface Probe {
  readonly name: string;
  readonly source: string;
}

/** Every probe as a program. */
export function escapeProbes(targets: Targets): readonly Probe[] {
  return programs({ ...bodies, ...hostProbeBodies }, targets);
}

/** Probes that must say the same in every child and at every time. */
export function steadyProbes(targets: Targets): readonly Probe[] {
  return programs(steadyProbeBodies, targets);
}

function programs(of: Readonly<Record<string, string>>, targets: Targets): readonly Probe[] {
  return Object.entries(of).map(([name, body]) => ({ name, source: program(body, targets) }));
}
