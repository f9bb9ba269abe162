"""The other side of `npm run bench -- speed`: environment programs in plain CPython, the way the reference runs them.

NOT a sandbox. A program is executed in this very process, with everything this process may do. Only programs written by
hand for this repository (environments/) may ever be given to it, never one that a model wrote.

At each load the source is executed, the class constructed, reset, stepped three times and reset again. An episode's steps
go through one pool of threads, each with a timeout. Requests and answers are lines of JSON; times are taken in here, so
that the reference, which is one process, is not charged for the pipe. Argument: the directory of the guest library,
whose base classes and answer checking the programs need.
"""
import gc
import hashlib
import importlib
import json
import os
import platform
import sys
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter, process_time
from types import ModuleType

STEP_TIMEOUT_SECONDS = 30
PROBE_ACTIONS = ("1", "look", "done")
NAME = "environment"
NAMES = {
    "abc": "ABC abstractmethod",
    "collections": "Counter OrderedDict defaultdict deque namedtuple",
    "copy": "deepcopy",
    "dataclasses": "dataclass field",
    "enum": "Enum IntEnum auto",
    "fractions": "Fraction",
    "functools": "lru_cache partial reduce",
    "itertools": "permutations combinations product chain",
    "typing": "Any Callable Dict Iterable Iterator List Literal NamedTuple Optional Sequence Set Tuple Type Union",
}


def guest_names(directory):
    """The names that programs have without importing them; executed once, as the reference's base classes are."""

    def run(file, name):
        module = sys.modules[name] = ModuleType(name)
        with open(os.path.join(directory, file), encoding="utf-8") as source:
            exec(compile(source.read(), file, "exec"), module.__dict__)
        return module

    answers = run("answers.py", "spade_answers")
    run("tools.py", "spade_tools")
    names = {"same": answers.same, "parse": answers.parse, "verify": answers.verify}
    for name in "bisect collections copy heapq itertools json math random re string".split():
        names[name] = importlib.import_module(name)
    for name, members in NAMES.items():
        names.update((member, getattr(importlib.import_module(name), member)) for member in members.split())
    for file in ("runtime.py", "tool_use.py"):
        module = ModuleType(NAME)
        module.__dict__.update(names)
        with open(os.path.join(directory, file), encoding="utf-8") as source:
            exec(compile(source.read(), file, "exec"), module.__dict__)
        names.update((name, value) for name, value in module.__dict__.items() if isinstance(value, type))
    return names


class Harness:
    def __init__(self, directory):
        self.names = guest_names(directory)
        self.programs = {}
        self.pool = ThreadPoolExecutor()

    def construct(self, program):
        source, entry = self.programs[program]
        module = ModuleType(NAME)
        sys.modules[NAME] = module
        module.__dict__.update(self.names)
        exec(source, module.__dict__)
        return module.__dict__[entry]()

    def load(self, program, seed):
        """What the reference does before every episode."""
        environment = self.construct(program)
        environment.reset(seed)
        for action in PROBE_ACTIONS:
            try:
                environment.step(action)
            except Exception:
                pass
        environment.reset(seed)
        return environment

    def started(self, program, plays):
        environments = [self.construct(program) for _ in plays]
        for environment, play in zip(environments, plays):
            environment.reset(play["seed"])
        return environments

    def hello(self, request):
        return {"python": platform.python_version(), "workers": self.pool._max_workers}

    def program(self, request):
        self.programs[request["program"]] = (request["source"], request["entry"])
        return {}

    def loads(self, request):
        """What `count` loads take together."""
        started = clocks()
        for seed in range(request["count"]):
            self.load(request["program"], seed)
        return cost_since(started)

    def steps(self, request):
        """Plays lists of actions. `batched`: a step of every play at once; `single`: one after the other; `direct`: without the pool."""
        plays, mode = request["plays"], request["mode"]
        environments = self.started(request["program"], plays)
        records = [[] for _ in plays]
        submit = self.pool.submit
        started = clocks()
        if mode == "batched":
            for turn in range(max(len(play["actions"]) for play in plays)):
                going = [i for i, play in enumerate(plays) if turn < len(play["actions"])]
                futures = [submit(environments[i].step, plays[i]["actions"][turn]) for i in going]
                for i, future in zip(going, futures):
                    records[i].append(future.result(timeout=STEP_TIMEOUT_SECONDS))
        else:
            for environment, play, record in zip(environments, plays, records):
                for action in play["actions"]:
                    record.append(environment.step(action) if mode == "direct" else submit(environment.step, action).result(timeout=STEP_TIMEOUT_SECONDS))
        return {**cost_since(started), "digest": digest(records)}

    def memory(self, request):
        """Resident bytes that `count` loaded environments take."""
        gc.collect()
        before = resident_bytes()
        kept = [self.load(request["program"], seed) for seed in range(request["count"])]
        gc.collect()
        return {"bytes": resident_bytes() - before, "count": len(kept)}


def clocks():
    return perf_counter(), process_time()


def cost_since(started):
    return {"wallMs": 1000 * (perf_counter() - started[0]), "cpuMs": 1000 * (process_time() - started[1])}


def digest(records):
    """Of what was observed: the same as the bench computes of the sandbox's answers."""
    lines = [
        "\t".join([observation, f"{float(reward):.6f}", str(bool(terminated)).lower(), str(bool(truncated)).lower()])
        for steps in records
        for observation, reward, terminated, truncated, _ in steps
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def resident_bytes():
    try:
        with open("/proc/self/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def main():
    answers = sys.stdout
    # What a program prints must not become an answer.
    sys.stdout = sys.stderr
    harness = Harness(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(harness, request["op"])(request)), file=answers, flush=True)


if __name__ == "__main__":
    main()
