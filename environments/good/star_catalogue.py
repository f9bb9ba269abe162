"""Data retrieval with paging: the catalogue gives five stars per page, the brightest of a constellation is asked for."""
import random


class StarCatalogueEnv(ToolUseBaseEnv):
    max_turns = 9

    def reset(self, seed=None):
        rng = random.Random(seed)
        houses = rng.sample(["Lyra", "Cygnus", "Draco", "Orion", "Perseus"], 3)
        self._house = houses[0]
        names = [f"{letter}{number}" for letter, number in zip(rng.choices("KLMNPR", k=15), rng.sample(range(100, 999), 15))]
        self._stars = [(name, rng.choice(houses), mag) for name, mag in zip(names, rng.sample(range(10, 99), 15))]
        self._stars[rng.randrange(15)] = (f"T{rng.randint(100, 999)}", self._house, rng.randint(2, 9))
        self._state = {"page": 0}
        mine = [(mag, name) for name, house, mag in self._stars if house == self._house]
        self._expected_answer = min(mine)[1]
        page = {"number": {"type": "integer", "description": "1 to 3"}}
        self._tools = [
            {"type": "function", "function": {"name": "catalogue_page", "description": "One page of the star catalogue", "parameters": {"type": "object", "properties": page, "required": ["number"]}}},
            {"type": "function", "function": {"name": "point_telescope", "description": "Turns the telescope to a star", "parameters": {"type": "object", "properties": {"star": {"type": "string"}, "minutes": {"type": "number"}}, "required": ["star"]}}},
        ]
        return self._begin(f"Which star of {self._house} in the observatory's catalogue is brightest? A smaller magnitude is brighter. Answer with the name of the star.")

    def tool_catalogue_page(self, number):
        if number not in (1, 2, 3):
            return "error: pages are 1, 2 and 3"
        self._state["page"] = number
        return [{"star": n, "in": h, "magnitude": m / 10} for n, h, m in self._stars[5 * number - 5 : 5 * number]]

    def tool_point_telescope(self, star, minutes=1):
        return f"the telescope points to {star} for {minutes} minutes"

    def solution(self):
        pages = [f"<tool_call>\n<function=catalogue_page>\n<parameter=number>\n{n}\n</parameter>\n</function>\n</tool_call>" for n in (1, 2, 3)]
        return [*pages, f"<answer>{self._expected_answer}</answer>"]
