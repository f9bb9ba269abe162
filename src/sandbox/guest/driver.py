"""Guest side of the sandbox: loads one program, keeps its instances, answers one request at a time.

`dispatch` takes and returns bytes of JSON. Nothing here is a security boundary: the boundary is the import gate of
the host; everything this module says is data to the host.
"""
import ast
import builtins
import importlib
import inspect
import json
import random
import sys
from types import ModuleType

import spade_analysis as analysis
import spade_answers as answers
import spade_border as border
from spade_border import Refusal

# The C parts of json without the Python around them: made once, and called for every step.
_scan = json.scanner.c_make_scanner(json.JSONDecoder())
_chunks = json.encoder.c_make_encoder(None, json.JSONEncoder().default, json.encoder.encode_basestring_ascii, None, ": ", ", ", False, False, False)
_FILE = "<environment>"
_NAME = "environment"
_DENIED = frozenset(
    "js pyodide pyodide_js _pyodide _pyodide_core ctypes _ctypes subprocess _posixsubprocess socket _socket ssl _ssl "
    "multiprocessing _multiprocessing mmap http ftplib smtplib imaplib poplib telnetlib urllib.request webbrowser "
    "asyncio selectors select pty signal".split()
)


# Names programs use without importing them: modules, and what is commonly imported from them. Resolved after the program's own.
_MODULES = "bisect collections copy datetime decimal fractions functools heapq itertools json math operator re statistics string textwrap".split()
_MEMBERS = {
    "abc": "ABC abstractmethod",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "copy": "deepcopy",
    "dataclasses": "dataclass field",
    "decimal": "Decimal",
    "enum": "Enum IntEnum auto",
    "fractions": "Fraction",
    "functools": "lru_cache partial reduce",
    "itertools": "permutations combinations product chain",
    "typing": "Any Callable ClassVar Dict Iterable Iterator List Literal NamedTuple Optional Sequence Set Tuple Type TypedDict Union",
}
_PROVIDED = {name: importlib.import_module(name) for name in _MODULES}
for _module, _members in _MEMBERS.items():
    _PROVIDED.update((_member, getattr(importlib.import_module(_module), _member)) for _member in _members.split())


class CapabilityDenied(ImportError):
    """Import of a module that stands for a capability programs do not have."""


class OutputFlood(BaseException):
    """More was printed than a call may print."""


class Sink:
    """Swallows what a program prints, up to a limit per call."""

    encoding = "utf-8"
    errors = "strict"
    closed = False
    left = 0

    def write(self, text):
        Sink.left -= len(text)
        if Sink.left < 0:
            raise OutputFlood("a call printed more than it may")
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def isatty(self):
        return False

    def fileno(self):
        raise OSError("no file")


class Finder:
    """The only finder left after the lock: modules that are not in the image cannot be imported."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in _DENIED or name.partition(".")[0] in _DENIED:
            raise CapabilityDenied(f"module {name!r} is not available to environment programs")
        return None


class State:
    """The loaded program. One per interpreter."""

    code = None
    entry = None
    #: How `reset` takes its seed: "positional", "keyword" or "none".
    seed_style = "positional"
    #: Whether the base classes are named in the source; they are made anew for each instance.
    uses_games = False
    uses_tools = False
    #: What `step` takes: "boxed", the content of a box, or "tools", a whole reply.
    action_form = "boxed"
    observation_limit = 0
    print_limit = 0
    instances = {}


class Instance:
    __slots__ = ("module", "random", "object")


#: Functions of `random` that are methods of its hidden instance, and the rest of the module.
_RANDOM_METHODS = frozenset(name for name in random.__all__ if name[0].islower() and hasattr(random.Random, name))
_RANDOM_REST = {name: value for name, value in random.__dict__.items() if name not in _RANDOM_METHODS and name != "_inst"}


def _private_random():
    """A module `random` with a hidden instance of its own, which is made when it is first used: most programs have their own."""
    module = ModuleType("random")
    names = module.__dict__
    names.update(_RANDOM_REST)

    def missing(name):
        if name not in _RANDOM_METHODS and name != "_inst":
            raise AttributeError(f"module 'random' has no attribute {name!r}")
        source = names.setdefault("_inst", random.Random(0))
        for method in _RANDOM_METHODS:
            names.setdefault(method, getattr(source, method))
        return names[name]

    names["__getattr__"] = missing
    return module


def _leave(code=None):
    raise SystemExit(code)


def _no_input(prompt=""):
    raise EOFError("environment programs have no input")


_import = __import__
#: What is copied for each instance.
_BUILTINS = {**builtins.__dict__, **_PROVIDED, "exit": _leave, "quit": _leave, "input": _no_input}


def _namespace():
    """A fresh module for one instance: own builtins, own `random`, own runtime classes."""
    instance = Instance()
    instance.random = private = _private_random()
    instance.module = ModuleType(_NAME)
    names = instance.module.__dict__
    own = dict(_BUILTINS)

    def import_(name, globals=None, locals=None, fromlist=(), level=0):
        if name == "random" and level == 0:
            return private
        return _import(name, globals, locals, fromlist, level)

    own.update(random=private, __import__=import_)
    names["__builtins__"] = own
    names.update(same=answers.same, parse=answers.parse, verify=answers.verify, Random=random.Random)
    names["__name__"] = "spade_runtime"
    if State.uses_games:
        exec(_runtime_code, names)
    if State.uses_tools:
        exec(_tool_use_code, names)
    names["__name__"] = _NAME
    return instance


def _activate(instance):
    sys.modules[_NAME] = instance.module
    sys.modules["random"] = instance.random


def _construct():
    instance = _namespace()
    _activate(instance)
    exec(State.code, instance.module.__dict__)
    instance.object = instance.module.__dict__[State.entry]() if State.entry else None
    return instance


def _is_protocol(value):
    return callable(getattr(value, "reset", None)) and callable(getattr(value, "step", None))


def _find_entry(names, calls):
    """The class with `reset` and `step` that no other class of the file derives from or constructs."""
    own = {name: value for name, value in names.items() if isinstance(value, type) and value.__module__ == _NAME}
    candidates = [name for name, value in own.items() if _is_protocol(value)]
    if not candidates:
        raise Refusal("protocol", "no class with reset and step was found")

    def is_used(name):
        for other, value in own.items():
            if value is not own[name] and (issubclass(value, own[name]) or own[name].__name__ in calls.get(other, ())):
                return True
        return False

    free = [name for name in candidates if not is_used(name)] or candidates
    return next((name for name in reversed(free) if name.endswith("Env")), free[-1])


def _load(request):
    limits = request["limits"]
    State.observation_limit = limits["maxObservationChars"]
    State.print_limit = Sink.left = limits["maxOutputBytes"]
    try:
        tree = ast.parse(request["source"], _FILE)
        State.code = compile(tree, _FILE, "exec", dont_inherit=True)
        calls = analysis.constructions(tree)
        facts = analysis.analyse(tree)
        State.uses_games = "TextGame" in request["source"]
        State.uses_tools = "ToolUseBaseEnv" in request["source"]
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise Refusal("parse", _describe(error)) from None
    probe = _construct()
    State.entry = _find_entry(probe.module.__dict__, calls)
    entry = probe.module.__dict__[State.entry]
    State.seed_style = _seed_style(entry.reset)
    made = entry()
    turns = border.scalar(getattr(made, "max_turns", None))
    facts["entry"] = State.entry
    State.action_form = facts["actionForm"] = "tools" if _is_tool_use(entry) else "boxed"
    facts["hasSolution"] = callable(getattr(made, "solution", None))
    if isinstance(turns, int) and not isinstance(turns, bool):
        facts["maxTurns"] = turns
    return facts


def _is_tool_use(entry):
    return any(base.__name__ == "ToolUseBaseEnv" and base.__module__ == "spade_runtime" for base in entry.__mro__)


def _seed_style(reset):
    try:
        parameters = list(inspect.signature(reset).parameters.values())[1:]
    except (TypeError, ValueError):
        return "positional"
    kinds = {parameter.kind for parameter in parameters}
    if any(parameter.name == "seed" and parameter.kind == parameter.KEYWORD_ONLY for parameter in parameters):
        return "keyword"
    if kinds & {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}:
        return "positional"
    return "keyword" if inspect.Parameter.VAR_KEYWORD in kinds else "none"


def _reset(instance, seed):
    if State.seed_style == "keyword":
        value = instance.object.reset(seed=seed)
    elif State.seed_style == "positional":
        value = instance.object.reset(seed)
    else:
        # A program that takes no seed draws from its own `random` module, which is seeded for it.
        instance.random.seed(seed)
        value = instance.object.reset()
    return border.reset_value(value, State.observation_limit)


def _create(request):
    instance = _construct()
    value = _reset(instance, request["arg"])
    State.instances[request["slot"]] = instance
    return value


def _find(request):
    instance = State.instances[request["slot"]]
    _activate(instance)
    return instance


def _do_reset(request):
    return _reset(_find(request), request["arg"])


def _step(request):
    return border.step_value(_find(request).object.step(request["arg"]), State.observation_limit)


def _solution(request):
    solve = getattr(_find(request).object, "solution", None)
    if not callable(solve):
        raise Refusal("protocol", "the program has no solution()")
    return border.solution_value(solve(), answers.boxed if State.action_form == "boxed" else lambda text: None)


def _about(request):
    environment = _find(request).object
    hint, tools = (getattr(environment, name, None) for name in ("hint", "get_tools"))
    value = {}
    if callable(hint):
        value["hint"] = border.observation(hint(), State.observation_limit, "hint")
    if callable(tools):
        value["tools"] = border.tools_value(tools(), State.observation_limit)
    return value


def _drop(request):
    State.instances.pop(request["slot"], None)
    return None


_OPERATIONS = {"load": _load, "create": _create, "reset": _do_reset, "step": _step, "solution": _solution, "about": _about, "drop": _drop}


def _describe(error):
    try:
        text = f"{type(error).__name__}: {error}"
    except Exception:
        text = type(error).__name__
    line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == _FILE:
            line = trace.tb_lineno
        trace = trace.tb_next
    return text[:400] + (f" (line {line})" if isinstance(line, int) and "(line" not in text else "")


def _failure(error):
    if isinstance(error, Refusal):
        return error.code, str(error)
    if isinstance(error, SystemExit):
        return "exit", _describe(error)
    if isinstance(error, MemoryError):
        return "memory", "the program used more memory than it may"
    if isinstance(error, OutputFlood):
        return "output", str(error)
    if isinstance(error, (CapabilityDenied, PermissionError)):
        return "denied", _describe(error)
    return "raise", _describe(error)


def dispatch(request):
    """One request, one reply, both bytes of JSON."""
    try:
        request = _scan(request.decode(), 0)[0]
        Sink.left = State.print_limit
        reply = {"ok": True, "value": _OPERATIONS[request["op"]](request)}
    except BaseException as error:
        code, message = _failure(error)
        reply = {"ok": False, "failure": {"code": code, "message": message}}
        error = None
    return "".join(_chunks(reply, 0)).encode()


def lock():
    """Leaves programs nothing of the bridge to the host by name (the gate denies its use in any case)."""
    import gc
    import os
    import time

    for name in list(sys.modules):
        if name in _DENIED or name.partition(".")[0] in _DENIED:
            del sys.modules[name]
    sys.meta_path[:] = [Finder, *(finder for finder in sys.meta_path if getattr(finder, "__name__", "") == "BuiltinImporter")]
    sys.path_hooks.clear()
    sys.path.clear()
    sys.path_importer_cache.clear()
    sys.stdout = sys.__stdout__ = sys.stderr = sys.__stderr__ = Sink()
    sys.stdin = sys.__stdin__ = None
    os.environ.clear()
    time.sleep = lambda seconds: None
    State.instances.clear()
    gc.collect()
    gc.freeze()
    return b"locked"


_runtime_code = None
_tool_use_code = None
