"""What may cross from a program to the host: coercions and named refusals."""
import json
from fractions import Fraction
from math import isfinite


#: Of a parse report: entries of each kind, and characters of one.
_MAX_REPORT_ENTRIES = 20
_MAX_REPORT_CHARS = 300


class Refusal(Exception):
    """A value that may not cross; `code` is a failure code of the contract."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def shown(value):
    """A short text of any value, for messages."""
    try:
        text = repr(value)
    except Exception:
        text = f"<{type(value).__name__} without repr>"
    return text if len(text) <= 80 else text[:77] + "..."


def scalar(value):
    """Unwraps numpy-like scalars."""
    if isinstance(value, (bool, int, float, str)) or value is None:
        return value
    item = getattr(value, "item", None)
    if callable(item) and not isinstance(value, type):
        return item()
    return value


def observation(value, limit, name="observation"):
    value = scalar(value)
    if not isinstance(value, str):
        raise Refusal("protocol", f"the {name} is {shown(value)} ({type(value).__name__}); expected a string")
    if len(value) > limit:
        raise Refusal("output", f"the {name} has {len(value)} characters; at most {limit} are allowed")
    return str(value)


def reward(value, warnings):
    value = scalar(value)
    if isinstance(value, bool):
        warnings.append(f"reward {value} taken as {int(value)}")
        return int(value)
    if isinstance(value, Fraction):
        value = float(value)
    if not isinstance(value, (int, float)):
        raise Refusal("protocol", f"the reward is {shown(value)} ({type(value).__name__}); expected a number in [-10, 10]")
    if isinstance(value, float) and not isfinite(value) or not -10 <= value <= 10:
        raise Refusal("protocol", f"the reward is {shown(value)}; expected a finite number in [-10, 10]")
    return value + 0


def flag(name, value):
    value = scalar(value)
    if not isinstance(value, bool):
        raise Refusal("protocol", f"{name} is {shown(value)} ({type(value).__name__}); expected True or False")
    return value


def reset_value(value, limit):
    """`(observation, info)` or a bare string."""
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise Refusal("protocol", f"reset returned {len(value)} values; expected (observation, info)")
        if not isinstance(value[1], dict):
            raise Refusal("protocol", f"info from reset is {shown(value[1])}; expected a dict")
        value = value[0]
    return {"observation": observation(value, limit)}


def step_value(value, limit):
    """`(observation, reward, terminated, truncated, info)`."""
    return _plain_step(value, limit) or _checked_step(value, limit)


def _plain_step(value, limit):
    """The step of a program that returns what it should, looked at once; None for any other."""
    if type(value) is not tuple or len(value) != 5:
        return None
    text, gain, terminated, truncated, info = value
    if type(text) is not str or len(text) > limit or type(gain) is not float or not -10 <= gain <= 10:
        return None
    if type(terminated) is not bool or type(truncated) is not bool or type(info) is not dict or "parse" in info:
        return None
    return {"observation": text, "reward": gain + 0, "terminated": terminated, "truncated": truncated, "warnings": []}


def _checked_step(value, limit):
    if not isinstance(value, (tuple, list)):
        raise Refusal("protocol", f"step returned {shown(value)} ({type(value).__name__}); expected 5 values")
    if len(value) != 5:
        raise Refusal(
            "protocol",
            f"step returned {len(value)} values; expected 5 (observation, reward, terminated, truncated, info)",
        )
    if not isinstance(value[4], dict):
        raise Refusal("protocol", f"info from step is {shown(value[4])}; expected a dict")
    warnings = []
    return {
        "observation": observation(value[0], limit),
        "reward": reward(value[1], warnings),
        "terminated": flag("terminated", value[2]),
        "truncated": flag("truncated", value[3]),
        "warnings": warnings,
        **_parse_report(value[4].get("parse")),
    }


def _parse_report(report):
    """The parse report of a step, cut to a bounded size; none where there is none of the right shape."""
    if not isinstance(report, dict) or not all(isinstance(report.get(kind), list) for kind in ("warnings", "errors")):
        return {}

    def texts(values):
        return [text[:_MAX_REPORT_CHARS] for text in values if isinstance(text, str)]

    errors = [error.get("message") for error in report["errors"][:_MAX_REPORT_ENTRIES] if isinstance(error, dict)]
    return {"parse": {"warnings": texts(report["warnings"][:_MAX_REPORT_ENTRIES]), "errors": texts(errors)}}


def tools_value(value, limit):
    """A list of tool schemas that JSON can hold."""
    if not isinstance(value, (list, tuple)) or not all(isinstance(tool, dict) for tool in value):
        raise Refusal("protocol", f"get_tools() returned {shown(value)} ({type(value).__name__}); expected a list of schemas")
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Refusal("protocol", f"the tools are no JSON: {str(error)[:200]}") from None
    if len(text) > limit:
        raise Refusal("output", f"the tools have {len(text)} characters; at most {limit} are allowed")
    return json.loads(text)


def solution_value(value, boxed):
    """A list of actions; one action may stand alone, numbers become text, and `\\boxed{x}` becomes x where `boxed` finds it."""
    value = scalar(value)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise Refusal("protocol", f"solution() returned {shown(value)} ({type(value).__name__}); expected a list of actions")
    actions = []
    for action in value:
        action = scalar(action)
        if isinstance(action, bool) or not isinstance(action, (str, int, float)):
            raise Refusal("protocol", f"an action of solution() is {shown(action)} ({type(action).__name__}); expected text")
        text = str(action)
        inner = boxed(text)
        actions.append(text if inner is None else inner)
    return actions
