import random as rnd
from typing import List

Board = List[List[int]]
SIZE = 3

def make(seed: int) -> Board:
    r = rnd.Random(seed)
    return [[r.randint(1, 9) for _ in range(SIZE)] for _ in range(SIZE)]

def trace(board: Board) -> int:
    return sum(board[i][i] for i in range(SIZE))

class TraceEnvironment:
    def reset(self, seed=None):
        self.board = make(seed)
        return "Add the main diagonal:\n" + "\n".join(" ".join(map(str, row)) for row in self.board), {}
    def step(self, action):
        return "end", float(action.strip() == str(trace(self.board))), True, False, {}
    def solution(self): return [str(trace(self.board))]
