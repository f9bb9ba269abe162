"""Error recovery: the first carrier refuses; the error says what is wrong, and the call must be repaired."""
import json
import random


class ParcelRetryEnv(ToolUseBaseEnv):
    max_turns = 10

    def reset(self, seed=None):
        rng = random.Random(seed)
        towns = rng.sample(["Lund", "Oslo", "Turku", "Visby", "Narvik", "Aarhus"], 4)
        self._zones = {town: f"Z{rng.randint(10, 99)}" for town in towns}
        self._limits = {"van": rng.randint(5, 9), "rail": rng.randint(12, 18), "ship": rng.randint(25, 40)}
        self._to, weight = towns[0], rng.randint(10, 24)
        self._weight = weight
        self._fit = min((limit, mode) for mode, limit in self._limits.items() if limit >= weight)[1]
        self._state = {"sent": [], "quotes": 0}
        self._tools = [
            {"type": "function", "function": {"name": "send_parcel", "description": "Sends the parcel by a carrier to the zone of a town", "parameters": {
                "type": "object", "properties": {"carrier": {"type": "string", "enum": ["van", "rail", "ship"]}, "zone": {"type": "string"}}, "required": ["carrier", "zone"]}}},
            {"type": "function", "function": {"name": "zone_of", "description": "Postal zone of a town", "parameters": {
                "type": "object", "properties": {"town": {"type": "string"}}, "required": ["town"]}}},
            {"type": "function", "function": {"name": "quote", "description": "Price of a carrier", "parameters": {
                "type": "object", "properties": {"carrier": {"type": "string"}}, "required": ["carrier"]}}},
        ]
        to, fit, zone = self._to, self._fit, self._zones[self._to]
        self._user_messages = [f"Send my parcel of {weight} kg to {to} by the smallest carrier that takes it.", "Send the same parcel once more, please."]
        self._message_criteria = [lambda s: s["sent"][:1] == [[fit, zone]], lambda s: s["sent"] == [[fit, zone]] * 2]
        return self._begin("You serve the parcel counter. A carrier refuses a parcel that is too heavy.")

    def tool_send_parcel(self, carrier, zone):
        if self._weight > self._limits[carrier]:
            raise ValueError(f"the {carrier} takes at most {self._limits[carrier]} kg")
        if zone not in self._zones.values():
            raise ValueError(f"zone {zone} is unknown; ask for the zone of the town")
        self._state["sent"].append([carrier, zone])
        return "sent"

    def tool_zone_of(self, town):
        return self._zones.get(town) or f"no town named {town}"

    def tool_quote(self, carrier):
        self._state["quotes"] += 1
        return f"{carrier}: {self._limits.get(carrier, 0) * 3} coins"

    def solution(self):
        ask = f'<tool_call>{{"name": "zone_of", "arguments": {{"town": "{self._to}"}}}}</tool_call>'
        send = "<tool_call>" + json.dumps({"name": "send_parcel", "arguments": {"carrier": self._fit, "zone": self._zones[self._to]}}) + "</tool_call>"
        return [ask, send, send]
