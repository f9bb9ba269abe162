import random

class NotesEnv(ToolUseBaseEnv):
    def __init__(self, max_turns=6, **kwargs):
        super().__init__(max_turns=max_turns, **kwargs)
    def reset(self, seed=None):
        rng = random.Random(seed)
        self._state = {"notes": {rng.choice("abcdef") + str(i): rng.randint(10, 99) for i in range(4)}}
        self._name = rng.choice(sorted(self._state["notes"]))
        self._expected_answer = str(self._state["notes"][self._name])
        self._tools = [{"type": "function", "function": {"name": "read_note", "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}]
        return f"What number is in note {self._name}?", {"tools": self._tools}
    def tool_read_note(self, name): return self._state["notes"].get(name, "none")
    def solution(self):
        return ['<tool_call>{"name": "read_note", "arguments": {"name": "%s"}}</tool_call>' % self._name, f"<answer>{self._expected_answer}</answer>"]
