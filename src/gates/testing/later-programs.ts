import { addition, oneTurn } from "./programs.ts";

/** Programs for gate `necessary`: faults by code, and one that must pass. */
export const necessaryPrograms = {
  /** The solution says the answer twice: either may be left out. */
  redundant: oneTurn({ reset: addition, solution: "return [str(self.key), str(self.key)]" }),
  /** The checker looks at the form of the action and forgets the number that the seed chose. */
  otherSeed: oneTurn({
    reset: "a = rng.randint(11, 99)\nself.key = f'put {a}'\nreturn f'The baker bakes loaf {a} of many buns. Say that it is put away, with its number.', {}",
    step: "won = action.startswith('put ') and action[4:].isdecimal()\nreturn ('Right.' if won else 'Wrong.'), (1.0 if won else 0.0), True, False, {}",
  }),
  /** The checker looks for the answer anywhere in the action. */
  amongOthers: oneTurn({
    reset: "boxes = rng.sample(['amber', 'olive', 'violet', 'white'], 3)\nweights = sorted(rng.sample(range(10, 99), 3))\nself.key = ' '.join(boxes)\nlines = ', '.join(sorted(f'{box} weighs {weight}' for box, weight in zip(boxes, weights)))\nreturn f'The baker has three boxes of buns: {lines}. Name them from the lightest to the heaviest.', {}",
    step: "won = self.key in action\nreturn ('Right.' if won else 'Wrong.'), (1.0 if won else 0.0), True, False, {}",
  }),
  /** One of two steps is needed: enough. */
  oneNeeded: `
class LookFirst(TextGame):
    max_turns = 4
    def reset(self, seed=None):
        rng = self.start(seed)
        self.a, self.b = rng.randint(11, 99), rng.randint(11, 99)
        return self.show(f"The baker bakes {self.a} loaves and {self.b} buns. Look at the trays, or say how many pieces there are.")
    def step(self, action):
        if action.strip() == "look":
            return self.tell("The trays are full.")
        return self.finish(action.strip() == str(self.a + self.b))
    def solution(self):
        return ["look", str(self.a + self.b)]
`,
} as const;

const row = "row = ''.join(rng.choice('#.') for _ in range(12))\nself.key = row[::-1]\n";

/** Programs for gate `leak` whose answers have neither words nor numbers. */
export const rowPrograms = {
  sound: oneTurn({ reset: `${row}return f'The baker reads a row of buns and gaps from the other end. The row: {row}', {}` }),
  told: oneTurn({ reset: `${row}return f'The baker reads a row of buns and gaps from the other end. The row: {row} Read from there: {self.key}', {}` }),
} as const;

/** Programs as other pools have them. */
export const foreignPrograms = {
  noSolution: oneTurn({ reset: addition }).replace("def solution", "def answers"),
  freeText: oneTurn({ reset: addition, solution: "return 'Add the loaves and the buns, and say how many pieces that is.'" }),
  notAList: oneTurn({ reset: addition, solution: "return {'answer': self.key}" }),
  wrongActions: oneTurn({ reset: addition, solution: "return [str(self.key + 1)]" }),
  winningText: oneTurn({
    reset: addition.replace("self.key = a + b", "self.key = f'there are {a + b} pieces on the trays'"),
    solution: "return self.key",
  }),
} as const;

/** Programs for gate `novelty`, against the fixture `addition`. */
export const nearPrograms = {
  /** Other names and larger numbers. */
  renamed: oneTurn({ reset: addition.replaceAll("99", "999").replaceAll("{a}", "{loaves}").replaceAll("{b}", "{buns}").replace("a, b =", "loaves, buns =").replace("a + b", "loaves + buns") }),
  /** The same structure about other things. */
  variant: oneTurn({
    reset: "a, b = rng.randint(11, 99), rng.randint(11, 99)\nself.key = a + b\nreturn f'The ferry takes {a} boxes of flour to the harbour, then {b} more of olive. What is the whole load?', {}",
  }),
} as const;

/** Text and checker differ: the text asks for a sum, checker and solution want one more. */
export const offByOne = oneTurn({ reset: addition.replace("self.key = a + b", "self.key = a + b + 1") });

/** Any seed is won by a word that no text names. */
export const backDoor = oneTurn({
  reset: addition,
  step: "if action == 'boom': raise ValueError('boom')\nwon = action in (str(self.key), 'open the oven')\nreturn ('Right.' if won else 'Wrong.'), (1.0 if won else 0.0), True, False, {}",
});
