"""Tool calls in a reply: found, decoded, coerced by schema. Every repair and every refusal is in the report.

A reply is scanned once, left to right. JSON is read by a JSON decoder, so tags and braces inside strings are text;
whatever stands inside a think block is not an action.
"""
import json
import re
from difflib import get_close_matches

_TAGS = re.compile(r"<think>|</think>|<tool_call>|<function=|<answer>")
_PARAMETER_END = re.compile(r"</parameter>(?=\s*(?:<parameter=|</function>|</tool_call>|\Z))")
_NAME = re.compile(r"[^<>\s]{1,200}")
_MAX_TEXT = 200_000
_MAX_BRACKETS = 2000


class _Broken(Exception):
    pass


def _no_constant(name):
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def read_reply(text, tools=()):
    """`(calls, answer, report)`: calls as `{"name", "arguments"}` in order, the last `<answer>` or None, and what was repaired or refused."""
    reader = _ReplyReader(str(text), schemas_by_name(tools))
    if len(reader.text) > _MAX_TEXT or reader.text.count("{") + reader.text.count("[") > _MAX_BRACKETS:
        reader.fail("the reply is too long or too deeply nested to hold a tool call")
    else:
        reader.scan()
    return reader.calls, reader.answer, reader.report


def schemas_by_name(tools):
    """Parameter schemas by tool name; tools are OpenAI function schemas, with or without the `function` wrapper."""
    found = {}
    for tool in tools or ():
        inner = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            parameters = inner.get("parameters")
            found[inner["name"]] = parameters if isinstance(parameters, dict) else {}
    return found


def suggestion(name, known):
    """`; did you mean ...` for a misspelt or doubled name, else empty."""
    half = name[: len(name) // 2]
    close = [half] if half in known and half * 2 == name else get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else ""


class _ReplyReader:
    def __init__(self, text, schemas):
        self.text = text
        self.schemas = schemas
        self.at = 0
        self.calls = []
        self.answer = None
        self.report = {"warnings": [], "errors": []}

    def warn(self, message):
        self.report["warnings"].append(message)

    def fail(self, message):
        self.report["errors"].append({"code": "parse", "message": message})

    def scan(self):
        while match := _TAGS.search(self.text, self.at):
            self.at = match.end()
            tag = match.group()
            if tag == "<think>":
                self.skip_past("</think>")
            elif tag == "</think>":
                # The template opened the block in the prompt: all before it was thought.
                if self.calls or self.answer is not None:
                    self.warn("calls before </think> are thoughts and were ignored")
                self.calls, self.answer, self.report["errors"] = [], None, []
            elif tag == "<answer>":
                self.read_answer()
            else:
                self.read_guarded(self.read_block if tag == "<tool_call>" else self.read_function)

    def skip_past(self, tag):
        end = self.text.find(tag, self.at)
        self.at = len(self.text) if end < 0 else end + len(tag)

    def skip_space(self, more=""):
        while self.at < len(self.text) and (self.text[self.at].isspace() or self.text[self.at] in more):
            self.at += 1

    def take(self, token):
        self.skip_space()
        if not self.text.startswith(token, self.at):
            return False
        self.at += len(token)
        return True

    def read_answer(self):
        end = self.text.find("</answer>", self.at)
        if end < 0:
            self.fail("<answer> is not closed")
            self.at = len(self.text)
        else:
            self.answer = self.text[self.at : end].strip()
            self.at = end + len("</answer>")

    def read_guarded(self, read):
        try:
            read()
        except (_Broken, ValueError, RecursionError) as error:
            self.fail(f"a tool call cannot be read: {str(error)[:200] or type(error).__name__}")
            self.skip_past("</tool_call>")

    def read_block(self):
        found = 0
        while True:
            self.skip_space(",;")
            if self.take("</tool_call>"):
                break
            if self.at >= len(self.text):
                if not found:
                    raise _Broken("the block is cut off")
                self.warn("a tool call block is not closed")
                break
            if self.take("<function="):
                self.read_function()
            elif self.text[self.at] in "{[":
                value, self.at = _decoder.raw_decode(self.text, self.at)
                for item in value if isinstance(value, list) else [value]:
                    self.add_object(item)
            else:
                raise _Broken(f"expected a JSON object or <function=NAME>, found {self.text[self.at : self.at + 20]!r}")
            found += 1
        if not found:
            self.fail("a tool call block is empty")

    def add_object(self, item):
        if isinstance(item, dict) and isinstance(item.get("function"), dict):
            item = item["function"]
        if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"].strip():
            self.fail(f"the name of a tool call is {json.dumps(item.get('name')) if isinstance(item, dict) else 'missing'}; expected text")
            return
        key = next((key for key in ("arguments", "parameters", "args", "input") if key in item), None)
        if key not in ("arguments", None):
            self.warn(f"{item['name']}: {key} read as arguments")
        arguments = item.get(key) if key else None
        if isinstance(arguments, str):
            arguments = _decoder.decode(arguments) if arguments.strip() else {}
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            self.fail(f"{item['name']}: arguments are {type(arguments).__name__}; expected an object")
            return
        self.add(item["name"].strip(), arguments)

    def read_function(self):
        """After `<function=`: parameters one by one, or a JSON object, up to `</function>`."""
        match = _NAME.match(self.text, self.at)
        if match is None:
            raise _Broken("<function= has no name")
        self.at = match.end()
        if not self.take(">"):
            raise _Broken(f"<function={match.group()} is not closed")
        arguments = {}
        while not self.take("</function>"):
            if self.take("<parameter="):
                key, value = self.read_parameter()
                arguments[key] = value
            elif self.text.startswith("{", self.at):
                value, self.at = _decoder.raw_decode(self.text, self.at)
                arguments.update(value)
            else:
                raise _Broken(f"function {match.group()} is not closed")
        self.add(match.group(), arguments)

    def read_parameter(self):
        match = _NAME.match(self.text, self.at)
        if match is None or not self.text.startswith(">", match.end()):
            raise _Broken("<parameter= has no name")
        end = _PARAMETER_END.search(self.text, match.end() + 1)
        if end is None:
            raise _Broken(f"parameter {match.group()} is not closed")
        self.at = end.end()
        value = self.text[match.end() + 1 : end.start()]
        return match.group(), value.removeprefix("\n").removesuffix("\n")

    def add(self, name, arguments):
        properties = self.schemas.get(name, {}).get("properties") or {}
        for key, value in arguments.items():
            if isinstance(properties.get(key), dict):
                coerced, fits = coerce(value, properties[key].get("type"))
                arguments[key] = coerced
                if not fits:
                    self.warn(f"{name}: {key} is {json.dumps(value)[:80]}; expected {properties[key].get('type')}")
        self.calls.append({"name": name, "arguments": arguments})


_WORDS = {"true": True, "false": False}
_INTEGER = re.compile(r"[+-]?\d{1,300}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d{1,300}(\.\d*)?|\.\d+)(e[+-]?\d{1,2})?", re.ASCII | re.IGNORECASE)


def fits(value, kind):
    """Whether a value is of a JSON schema type; unknown types fit anything."""
    if isinstance(kind, (list, tuple)):
        return any(fits(value, one) for one in kind)
    if kind == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    expected = {"string": str, "boolean": bool, "array": list, "object": dict, "null": type(None)}.get(kind)
    return expected is None or isinstance(value, expected)


def coerce(value, kind):
    """`(value, fits)`: the value as its schema type wants it where its text allows; otherwise as it was."""
    if fits(value, kind):
        return value, True
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value), True
    if kind == "string" and isinstance(value, (int, float)):
        return json.dumps(value), True
    if isinstance(value, str) and isinstance(kind, str):
        text = value.strip()
        if kind == "integer" and _INTEGER.fullmatch(text):
            return int(text), True
        if kind == "number" and _NUMBER.fullmatch(text):
            return (int(text) if _INTEGER.fullmatch(text) else float(text)), True
        if kind == "boolean" and text.lower() in _WORDS:
            return _WORDS[text.lower()], True
        if kind in ("array", "object"):
            try:
                decoded = _decoder.decode(text)
            except (ValueError, RecursionError):
                return value, False
            return (decoded, True) if fits(decoded, kind) else (value, False)
    return value, False


def refusal(arguments, schema):
    """Why a schema does not admit these arguments, or None: unknown, missing, of a wrong type, outside an enum."""
    properties = schema.get("properties") or {}
    for key in arguments:
        if key not in properties:
            return f"unknown parameter {key}{suggestion(key, list(properties))}"
    for key in schema.get("required") or ():
        if key not in arguments:
            return f"parameter {key} is required"
    for key, value in arguments.items():
        rule = properties[key] if isinstance(properties[key], dict) else {}
        if not fits(value, rule.get("type")):
            return f"parameter {key} is {json.dumps(value)[:80]}; expected {rule.get('type')}"
        if "enum" in rule and value not in rule["enum"]:
            return f"parameter {key} is {json.dumps(value)[:80]}; expected one of {json.dumps(rule['enum'])}"
    return None
