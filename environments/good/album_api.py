"""API orchestration: results of one call are the arguments of the next; nested arguments."""
import json
import random


class AlbumApiEnv(ToolUseBaseEnv):
    max_turns = 12
    THEMES = ["lakes", "birds", "bridges", "markets"]

    def reset(self, seed=None):
        rng = random.Random(seed)
        theme = rng.choice(self.THEMES)
        ids = rng.sample(range(1000, 9999), 12)
        self._photos = {n: {"theme": rng.choice(self.THEMES), "stars": rng.randint(1, 5)} for n in ids}
        for n in ids[:3]:
            self._photos[n] = {"theme": theme, "stars": rng.randint(3, 5)}
        self._theme, self._title = theme, f"{theme} {rng.randint(1990, 2020)}"
        self._want = sorted(n for n in ids if self._photos[n]["theme"] == theme and self._photos[n]["stars"] >= 3)
        want, title = self._want, self._title
        self._state = {"albums": {}, "shared": {}}
        self._user_messages = [
            f"Make an album titled '{title}'.",
            f"Put all photos about {theme} with at least 3 stars into it, and no others.",
            "Share the album with the editor, for viewing only.",
        ]

        def album(state):
            return next((a for a in state["albums"].values() if a["title"] == title), None)

        self._message_criteria = [
            lambda s: album(s) is not None,
            lambda s: album(s) is not None and sorted(album(s)["photos"]) == want,
            lambda s: any(s["albums"].get(key, {}).get("title") == title and grant == {"who": "editor", "right": "view"} for key, grant in s["shared"].items()),
        ]
        number, text = {"type": "integer"}, {"type": "string"}
        self._tools = []
        self._declare("create_album", "Creates an empty album; returns its key", {"title": text})
        self._declare("search_photos", "Numbers of the photos that fit a filter", {"filter": {"type": "object", "description": "theme and min_stars"}})
        self._declare("add_photos", "Adds photos to an album", {"album": text, "photos": {"type": "array", "items": number}})
        self._declare("share_album", "Shares an album", {"album": text, "grant": {"type": "object", "description": "who and right (view or edit)"}})
        self._declare("delete_album", "Deletes an album", {"album": text})
        return self._begin("You operate a photo archive through its API.")

    def _declare(self, name, description, properties):
        parameters = {"type": "object", "properties": properties, "required": list(properties)}
        self._tools.append({"type": "function", "function": {"name": name, "description": description, "parameters": parameters}})

    def tool_create_album(self, title):
        key = f"album-{len(self._state['albums']) + 1}"
        self._state["albums"][key] = {"title": title, "photos": []}
        return {"album": key}

    def tool_search_photos(self, filter):
        least = filter.get("min_stars", 1)
        least = least if isinstance(least, int) else 1
        return sorted(n for n, photo in self._photos.items() if photo["theme"] == filter.get("theme") and photo["stars"] >= least)

    def tool_add_photos(self, album, photos):
        unknown = [n for n in photos if n not in self._photos]
        if unknown or album not in self._state["albums"]:
            return {"error": f"unknown: {unknown or album}"}
        self._state["albums"][album]["photos"].extend(photos)
        return {"photos": len(self._state["albums"][album]["photos"])}

    def tool_share_album(self, album, grant):
        if album not in self._state["albums"]:
            return {"error": "no such album"}
        self._state["shared"][album] = grant
        return {"shared": album}

    def tool_delete_album(self, album):
        return {"deleted": self._state["albums"].pop(album, None) is not None}

    def solution(self):
        def call(name, arguments):
            return "<tool_call>" + json.dumps({"name": name, "arguments": arguments}) + "</tool_call>"

        return [
            call("create_album", {"title": self._title}),
            call("search_photos", {"filter": {"theme": self._theme, "min_stars": 3}}),
            call("add_photos", {"album": "album-1", "photos": self._want}),
            call("share_album", {"album": "album-1", "grant": {"who": "editor", "right": "view"}}),
        ]
