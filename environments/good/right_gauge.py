"""Tool selection: several instruments read the same things in different units; only one fits the question."""
import random


def tool(name, what, **kinds):
    properties = {key: {"type": kind} for key, kind in kinds.items()}
    return {"type": "function", "function": {"name": name, "description": what, "parameters": {"type": "object", "properties": properties, "required": sorted(properties)}}}


class RightGaugeEnv(ToolUseBaseEnv):
    max_turns = 6

    def reset(self, seed=None):
        rng = random.Random(seed)
        self._state = {"depth": rng.randint(20, 90), "salt": rng.randint(3, 40), "heat": rng.randint(2, 25), "readings": 0}
        self._basin = f"{rng.choice(['north', 'south', 'east'])} basin {rng.randint(2, 99)}"
        self._kind = rng.choice(["depth", "salt", "heat"])
        asked = {"depth": "How many feet deep", "salt": "How many grams of salt per litre", "heat": "How many degrees Celsius warm"}[self._kind]
        value = self._state[self._kind]
        self._expected_answer = 3 * value if self._kind == "depth" else value
        self._tools = [
            tool("sounding_line", "Depth of a basin in yards (one yard is three feet)", basin="string"),
            tool("salinometer", "Salt of a basin in grams per litre", basin="string"),
            tool("thermometer", "Temperature of a basin in degrees Celsius", basin="string"),
            tool("tide_clock", "Hours until high water in a basin", basin="string"),
        ]
        return self._begin(f"{asked} is the {self._basin} of the fish farm? Use one instrument and answer with the number.")

    def _read(self, basin, kind):
        if basin != self._basin:
            return f"there is no basin called {basin}"
        self._state["readings"] += 1
        return self._state[kind]

    def tool_sounding_line(self, basin):
        return self._read(basin, "depth")

    def tool_salinometer(self, basin):
        return self._read(basin, "salt")

    def tool_thermometer(self, basin):
        return self._read(basin, "heat")

    def tool_tide_clock(self, basin):
        return len(basin) % 12

    def solution(self):
        name = {"depth": "sounding_line", "salt": "salinometer", "heat": "thermometer"}[self._kind]
        return [
            f"<tool_call><function={name}><parameter=basin>{self._basin}</parameter></function></tool_call>",
            f"<answer>{self._expected_answer}</answer>",
        ]
