import random

class Corpus:
    def reset(self, seed=None):
        letters = random.Random(seed).choices("abcd", k=12)
        self.counts = Counter(letters)
        self.queue = deque(letters, maxlen=3)
        groups = defaultdict(list)
        for letter in letters: groups[letter].append(letter)
        pairs = len(list(itertools.combinations(groups, 2)))
        self.answer = str(math.comb(self.counts["a"] + 2, 2) + pairs)
        return json.dumps({"letters": "".join(letters)}) + " Count as agreed.", {}
    def step(self, action):
        found = re.findall(r"\d+", action)
        return "end", float(found[-1:] == [self.answer]), True, False, {}
    def solution(self): return [self.answer]
