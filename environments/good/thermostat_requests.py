"""State modification: a user's requests about a house arrive one at a time; predicates over the house decide."""
import random

ROOMS = ["kitchen", "study", "attic", "cellar"]


class ThermostatEnv(ToolUseBaseEnv):
    def __init__(self, max_turns=10, **kwargs):
        super().__init__(max_turns=max_turns, **kwargs)

    def reset(self, seed=None):
        rng = random.Random(seed)
        self._state = {"heat": {room: rng.randint(14, 18) for room in ROOMS}, "mode": {room: "auto" for room in ROOMS}, "locked": False}
        warm, cool, quiet = rng.sample(ROOMS, 3)
        high, low = rng.randint(21, 26), rng.randint(8, 12)
        self._plan = [("set_heat", {"room": warm, "degrees": high}), ("set_mode", {"room": quiet, "mode": "night"}), ("set_heat", {"room": cool, "degrees": low}), ("lock_panel", {})]
        self._user_messages = [
            f"Please heat the {warm} to {high} degrees.",
            f"Put the {quiet} into night mode.",
            f"The {cool} should be at {low} degrees.",
            "Now lock the panel.",
        ]
        self._message_criteria = [
            lambda house: house["heat"][warm] == high,
            lambda house: house["mode"][quiet] == "night",
            lambda house: house["heat"][cool] == low and house["heat"][warm] == high,
            lambda house: house["locked"],
        ]
        room = {"type": "string", "enum": ROOMS}
        self._tools = [self._schema("set_heat", "Sets the heat of a room", room=room, degrees={"type": "integer"})]
        self._tools += [self._schema("set_mode", "Sets the mode of a room", room=room, mode={"type": "string", "enum": ["auto", "night", "off"]})]
        self._tools += [self._schema("lock_panel", "Locks the panel of the house"), self._schema("read_room", "Reads heat and mode of a room", room=room)]
        return self._begin("You run the thermostat of a house.")

    @staticmethod
    def _schema(name, description, **properties):
        parameters = {"type": "object", "properties": properties, "required": list(properties)}
        return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}

    def tool_set_heat(self, room, degrees):
        if self._state["locked"]:
            return "error: the panel is locked"
        self._state["heat"][room] = degrees
        return f"{room} at {degrees}"

    def tool_set_mode(self, room, mode):
        if self._state["locked"]:
            return "error: the panel is locked"
        self._state["mode"][room] = mode
        return f"{room} in {mode} mode"

    def tool_lock_panel(self):
        self._state["locked"] = True
        return "locked"

    def tool_read_room(self, room):
        return {"heat": self._state["heat"][room], "mode": self._state["mode"][room]}

    def solution(self):
        from json import dumps

        return ["<tool_call>" + dumps({"name": name, "arguments": arguments}) + "</tool_call>" for name, arguments in self._plan]
