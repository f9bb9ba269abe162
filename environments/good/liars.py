import random
from dataclasses import dataclass


@dataclass(frozen=True)
class Claim:
    speaker: int
    about: int
    honest: bool

    def text(self, names):
        return f'{names[self.speaker]} says: "{names[self.about]} {"always tells the truth" if self.honest else "always lies"}."'


class LiarsEnv:
    """Knights and knaves: one claim each, unique by construction, answered as the list of liars."""

    POOL = ("Ines", "Jonas", "Kira", "Lasse", "Mila", "Nuno", "Odile")

    def _consistent(self, truth):
        return all(truth[c.speaker] == (truth[c.about] == c.honest) for c in self.claims)

    def reset(self, seed=None):
        rng = random.Random(seed)
        while True:
            self.names = rng.sample(self.POOL, 4)
            truth = [rng.random() < 0.5 for _ in range(4)]
            self.claims = []
            for speaker in range(4):
                about = rng.choice([i for i in range(4) if i != speaker])
                self.claims.append(Claim(speaker, about, (truth[about] if truth[speaker] else not truth[about])))
            hint_who = rng.randrange(4)
            fits = [[bool(mask >> i & 1) for i in range(4)] for mask in range(16)]
            fits = [t for t in fits if self._consistent(t) and t[hint_who] == truth[hint_who]]
            if len(fits) == 1 and not all(truth):
                break
        self.liars = sorted(name for name, honest in zip(self.names, truth) if not honest)
        known = f"The judge knows that {self.names[hint_who]} {'tells the truth' if truth[hint_who] else 'lies'}."
        spoken = " ".join(claim.text(self.names) for claim in self.claims)
        return f"Four witnesses stand before the judge; each always tells the truth or always lies. {spoken} {known} Name all witnesses who lie, with commas, in \\boxed{{}}.", {}

    def step(self, action):
        named = sorted({part.strip().capitalize() for part in action.split(",") if part.strip()})
        won = named == self.liars
        return "The judge nods." if won else "The judge frowns.", 1 if won else 0, True, False, {"named": named}

    def solution(self):
        return [", ".join(self.liars)]
