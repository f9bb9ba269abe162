"""The base class of tool-use programs; executed anew for each instance, like `runtime.py`."""
import json as _json
from functools import wraps as _wraps

import spade_tools as _spade_tools


class ToolUseBaseEnv:
    """Owns `step`: runs the tool calls of a reply, reads its `<answer>`, counts turns.

    A subclass defines `reset(seed)` and `tool_<name>(self, **arguments)`. `reset` sets `self._tools` (OpenAI function
    schemas), `self._state`, and either `self._expected_answer` or `self._user_messages` with `self._message_criteria`
    (one predicate over the state per message; messages are revealed one at a time), and may end with
    `return self._begin(text)`. A tool returns text or JSON values; what it raises is told to the agent.
    """

    max_turns = 12

    def __init__(self, max_turns=None, **kwargs):
        if max_turns is not None:
            self.max_turns = max_turns
        self._tools = []
        self._forget()

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        own = cls.__dict__.get("reset")
        if callable(own):

            @_wraps(own)
            def reset(self, *args, **kwargs):
                self._forget()
                return own(self, *args, **kwargs)

            cls.reset = reset

    def _forget(self):
        self._state = {}
        self._expected_answer = None
        self._user_messages = []
        self._message_criteria = []
        self._turn = 0
        self._message = 0

    def get_tools(self):
        """The tool schemas."""
        return self._tools

    def _begin(self, text):
        """What `reset` returns: a text, the tools, how to reply, and the first message if there are any."""
        names = "\n".join(_json.dumps(tool.get("function", tool), sort_keys=True) for tool in self._tools)
        how = 'Reply with <tool_call>{"name": ..., "arguments": {...}}</tool_call>'
        how += "." if self._user_messages else " or <answer>...</answer>."
        first = f"\nUser: {self._user_messages[0]}" if self._user_messages else ""
        return f"{text}\nTools:\n{names}\n{how}{first}", {"tools": self._tools}

    def step(self, action):
        self._turn += 1
        calls, answer, report = _spade_tools.read_reply(action, self._tools)
        lines = [f"Unreadable: {error['message']}" for error in report["errors"]]
        lines += [f"{call['name']}: {self._dispatch(call)}" for call in calls]
        if not calls and answer is None and not lines:
            lines.append("Nothing was done: the reply has no tool call.")
        info = {"turn": self._turn, "parse": report, "calls": calls}
        reward, terminated = 0.0, False
        if self._user_messages:
            if self._is_met(self._message):
                self._message += 1
                terminated = self._message >= len(self._user_messages)
                reward = 1.0 if terminated else 0.0
                lines.append("All requests are done." if terminated else f"User: {self._user_messages[self._message]}")
            elif answer is not None or not calls:
                lines.append(f"The request is still open: {self._user_messages[self._message]}")
        elif answer is not None:
            terminated = True
            reward = 1.0 if self._is_expected(answer) else 0.0
            lines.append("Correct." if reward else "Wrong.")
        return "\n".join(lines), reward, terminated, not terminated and self._turn >= self.max_turns, info

    def _dispatch(self, call):
        """Runs one call; the result as text. Arguments outside the schema never reach the tool."""
        schemas = _spade_tools.schemas_by_name(self._tools)
        name, arguments = call["name"], call["arguments"]
        if name not in schemas:
            return f"error: unknown tool {name}{_spade_tools.suggestion(name, list(schemas))}"
        refused = _spade_tools.refusal(arguments, schemas[name])
        if refused is not None:
            return f"error: {refused}"
        method = getattr(self, f"tool_{name.replace('.', '_').replace('-', '_')}", None)
        if not callable(method):
            return f"error: tool {name} is not available"
        try:
            result = method(**arguments)
        except Exception as error:
            return f"error: {type(error).__name__}: {str(error)[:200]}"
        return result if isinstance(result, str) else _json.dumps(result, default=str)

    def _is_met(self, index):
        return index < len(self._message_criteria) and bool(self._message_criteria[index](self._state))

    def _is_expected(self, answer):
        expected = self._expected_answer
        if expected is None or expected == "" or answer == "":
            return False
        return same(answer, expected) or verify(parse(str(expected)), parse(answer))
