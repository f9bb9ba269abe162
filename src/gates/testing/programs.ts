/** The document that the fixture programs speak of. */
export const bakeryDocument =
  "A bakery in the harbour bakes loaves and buns before dawn. The baker weighs flour, counts the trays and keeps amber, olive and violet boxes for the " +
  "crews of the ferry. Each box holds the same number of buns, and the price of a loaf depends on the flour.";

/** A one-turn program from the body of `reset` (which sets `self.key` and returns a text) and of `step`. */
export function oneTurn(options: { readonly reset: string; readonly step?: string; readonly solution?: string; readonly before?: string; readonly methods?: string }): string {
  const { reset, step = judge, solution = "return [str(self.key)]", before = "", methods = "" } = options;
  return [
    "import random",
    before,
    "class Bakery:",
    "    def reset(self, seed=None):",
    indent(`rng = random.Random(seed)\n${reset}`),
    "    def step(self, action):",
    indent(step),
    "    def solution(self):",
    indent(solution),
    methods === "" ? "" : methods,
  ].join("\n");
}

const judge = 'won = action.strip().lower() == str(self.key)\nreturn ("Right." if won else "Wrong."), (1.0 if won else 0.0), True, False, {}';

function indent(text: string): string {
  return text
    .split("\n")
    .map((line) => `        ${line}`)
    .join("\n");
}

/** Two operands: nothing in the text is the answer. */
export const addition = "a, b = rng.randint(11, 99), rng.randint(11, 99)\nself.key = a + b\nreturn f'The baker bakes {a} loaves and {b} buns. How many pieces is that?', {}";

/** The same text with a hole, for variants. */
function additionWith(step: string, more: { before?: string; methods?: string; solution?: string } = {}): string {
  return oneTurn({ reset: addition, step, ...more });
}

/** Programs that every gate must pass: one turn, a choice among listed options, hidden state over several turns, with and without the base class. */
export const goodPrograms: Readonly<Record<string, string>> = {
  addition: oneTurn({ reset: addition }),
  choice: oneTurn({
    reset: [
      "boxes = rng.sample(['amber', 'olive', 'violet', 'white'], 4)",
      "weights = rng.sample(range(10, 99), 4)",
      "self.key = boxes[weights.index(max(weights))]",
      "lines = ', '.join(f'{box} weighs {weight}' for box, weight in zip(boxes, weights))",
      "return f'The baker has four boxes of buns: {lines}. Which box is heaviest? Choices: amber, olive, violet, white', {}",
    ].join("\n"),
  }),
  "hidden tray": `
class HiddenTray(TextGame):
    max_turns = 8
    def reset(self, seed=None):
        self.tray = self.start(seed).randint(1, 40)
        return self.show("The baker hid a loaf on one of the trays 1 to 40. Name a tray; you hear higher or lower.")
    def step(self, action):
        try:
            tray = int(str(action).strip())
        except (ValueError, OverflowError):
            return self.tell("Name the number of a tray.")
        if tray == self.tray:
            return self.finish(True, "The loaf is here.")
        return self.tell("higher" if tray < self.tray else "lower")
    def solution(self):
        return [str(self.tray)]
`,
  "ferry route": `
class FerryRoute:
    def __init__(self, max_turns=6):
        self.max_turns = max_turns
    def reset(self, seed=None):
        import random
        rng = random.Random(seed)
        self.route = [rng.choice(["north", "south", "east", "west"]) for _ in range(4)]
        code = {"north": "flour", "south": "bun", "east": "loaf", "west": "tray"}
        self.at = 0
        return "The ferry reads flour as north, bun as south, loaf as east, tray as west. The baker calls: " + " ".join(code[step] for step in self.route) + ". Sail one direction per turn.", {}
    def step(self, action):
        if action.strip().lower() != self.route[self.at]:
            return "The ferry is lost.", 0.0, True, False, {}
        self.at += 1
        done = self.at == len(self.route)
        return ("Harbour reached." if done else "Sail on."), (1.0 if done else 0.0), done, False, {}
    def solution(self):
        return list(self.route)
`,
};

export interface BadProgram {
  readonly source: string;
  readonly gate: string;
  /** Codes that are right; the first is the expected one. */
  readonly codes: readonly string[];
}

const countdown = (fault: string): string => `
class Trays(TextGame):
    max_turns = 20
    def reset(self, seed=None):
        self.key = str(self.start(seed).randint(100, 999))
        self.calls = 0
        return self.show("The baker thinks of a number of loaves between 100 and 999, say of bun weight " + self.key[::-1])
    def step(self, action):
        self.calls += 1
        if self.calls == 7:
            ${fault}
        if action.strip() == self.key:
            return self.finish(True)
        return self.tell("Not that many loaves.")
    def solution(self):
        return [self.key]
`;

/** Programs with one fault each, and the gate that must find it. */
export const badPrograms: Readonly<Record<string, BadProgram>> = {
  "does not parse": { source: "class A(:\n    pass", gate: "parse", codes: ["parse"] },
  "has no entry class": { source: "x = 1", gate: "load", codes: ["protocol"] },
  "raises when loaded": { source: `raise ValueError("no flour")\n${oneTurn({ reset: addition })}`, gate: "load", codes: ["raise"] },
  "reads a file when loaded": { source: `text = open("/etc/hostname").read()\n${oneTurn({ reset: addition })}`, gate: "load", codes: ["denied", "raise"] },
  "cannot be constructed": { source: oneTurn({ reset: addition, methods: "    def __init__(self, flour):\n        pass" }), gate: "load", codes: ["raise"] },
  "is about something else": {
    source: oneTurn({ reset: "a, b = rng.randint(11, 99), rng.randint(11, 99)\nself.key = a + b\nreturn f'A knight owns {a} swords and {b} shields. Sum?', {}" }),
    gate: "grounded",
    codes: ["ungrounded"],
  },
  "returns a number for a text": { source: oneTurn({ reset: "self.key = 'loaves and buns'\nreturn 7, {}" }), gate: "shape", codes: ["protocol"] },
  "returns three values from step": { source: additionWith("return 'The loaves', 0.0, True"), gate: "shape", codes: ["protocol"] },
  "rewards NaN": { source: additionWith("return 'no', float('nan'), True, False, {}"), gate: "shape", codes: ["protocol", "reward"] },
  "rewards 1e308 * 10": { source: additionWith("return 'no', 1e308 * 10, True, False, {}"), gate: "shape", codes: ["protocol", "reward"] },
  "rewards a text": { source: additionWith("return 'no', '1', True, False, {}"), gate: "shape", codes: ["protocol"] },
  "rewards nothing": { source: additionWith("return 'no', None, True, False, {}"), gate: "shape", codes: ["protocol"] },
  "rewards too much": { source: additionWith("return 'no', 11, True, False, {}"), gate: "shape", codes: ["protocol", "reward"] },
  "says nothing": { source: oneTurn({ reset: "self.key = 'loaves of the baker'\nreturn ' ', {}" }), gate: "shape", codes: ["observation"] },
  "says too much": { source: oneTurn({ reset: "self.key = 'loaves of the baker'\nreturn 'bun ' * 100000, {}" }), gate: "shape", codes: ["output"] },
  "resets only once": {
    source: oneTurn({ reset: `if hasattr(self, 'key'): raise RuntimeError('already open')\n${addition}` }),
    gate: "shape",
    codes: ["raise"],
  },
  "loops in step": { source: additionWith("while True: pass"), gate: "shape", codes: ["fuel", "timeout"] },
  "leaves in step": { source: additionWith("import sys\nsys.exit(3)"), gate: "shape", codes: ["exit"] },
  "reads a file in step": { source: additionWith("return open('/etc/hostname').read(), 0.0, True, False, {}"), gate: "shape", codes: ["denied", "raise"] },
  "raises on a digit that is no number": {
    source: additionWith("won = action.isdigit() and int(action) == self.key\nreturn 'No.', (1.0 if won else 0.0), True, False, {}"),
    gate: "robustness",
    codes: ["raise"],
  },
  "rewards infinity on one action": { source: additionWith("return 'no', (float('inf') if action == '' else 0.0), True, False, {}"), gate: "robustness", codes: ["protocol"] },
  "pays for an empty action": { source: additionWith(`if not action.strip(): return 'Right.', 1.0, True, False, {}\n${judge}`), gate: "robustness", codes: ["wins"] },
  "always pays": { source: additionWith("return 'Right.', 1.0, True, False, {}"), gate: "robustness", codes: ["wins"] },
  "hangs on the 7th call": { source: countdown("while True: pass"), gate: "robustness", codes: ["fuel", "timeout"] },
  "grows on the 7th call": { source: countdown("self.hoard = [bytes(10000000)]\n            while True: self.hoard.append(bytes(10000000))"), gate: "robustness", codes: ["memory"] },
  "hangs on an ordinary number": {
    source: countdown("pass").replace("if action.strip() == self.key", "while action.strip().isdigit() and self.calls == 12: pass\n        if action.strip() == self.key"),
    gate: "resources",
    codes: ["fuel", "timeout"],
  },
  "ignores the seed": { source: oneTurn({ reset: addition.replaceAll("rng.", "random.") }), gate: "determinism", codes: ["nondeterministic"] },
  "shares state between instances": {
    source: oneTurn({ reset: `Bakery.opened += 1\n${addition.replace("The baker", "Day {Bakery.opened}: the baker")}`, methods: "    opened = 0" }),
    gate: "determinism",
    codes: ["nondeterministic"],
  },
  "keeps state over a reset": {
    source: oneTurn({ reset: `self.day = getattr(self, 'day', 0) + 1\n${addition.replace("The baker", "Day {self.day}: the baker")}` }),
    gate: "determinism",
    codes: ["nondeterministic"],
  },
  "reads the clock": {
    source: oneTurn({ reset: addition.replace("self.key = a + b", "import time\nself.key = a + b + int(time.time() * 1000) % 7") }),
    gate: "determinism",
    codes: ["nondeterministic"],
  },
  "reads entropy": { source: oneTurn({ reset: addition.replace("self.key = a + b", "self.key = a + b + random.SystemRandom().randint(0, 99)") }), gate: "determinism", codes: ["nondeterministic"] },
  "depends on where objects lie": { source: oneTurn({ reset: addition.replace("self.key = a + b", "self.key = a + b + id(self) // 8 % 97") }), gate: "determinism", codes: ["nondeterministic"] },
  "has one seed": { source: oneTurn({ reset: addition, before: "" }).replace("random.Random(seed)", "random.Random(5)"), gate: "variety", codes: ["uniform"] },
  "is won at reset on seed 3": {
    source: `
class Notes:
    max_turns = 5
    def reset(self, seed=None):
        self.notes = {"groceries"} if seed == 3 else {"ferry"}
        self.order = f"tray {seed % 17}"
        return f"The baker keeps notes on {self.order}. See to it that a note titled Groceries exists: add TITLE, or done.", {}
    def step(self, action):
        if action.startswith("add "):
            self.notes.add(action[4:].strip().lower())
        ok = "groceries" in self.notes
        return ("Noted." if ok else "No such note yet."), (1.0 if ok else 0.0), ok and action != "", False, {}
    def solution(self):
        return ["add Groceries"]
`,
    gate: "pre-satisfied",
    codes: ["pre-satisfied"],
  },
  "wins on any first action": { source: additionWith("won = len(action) < 20 and action.isalnum()\nreturn 'Ok.', (1.0 if won else 0.0), True, False, {}"), gate: "robustness", codes: ["wins"] },
  "wins on any number": { source: additionWith("won = action.isascii() and action.isdigit() and len(action) < 9\nreturn 'Ok.', (1.0 if won else 0.0), True, False, {}"), gate: "pre-satisfied", codes: ["pre-satisfied"] },
  "has no solution": { source: oneTurn({ reset: addition }).replace("def solution", "def answers"), gate: "solvable", codes: ["no-solution"] },
  "has a wrong solution": { source: oneTurn({ reset: addition, solution: "return [str(self.key + 1)]" }), gate: "solvable", codes: ["loses"] },
  "has a solution that raises": { source: oneTurn({ reset: addition, solution: "return [self.kee]" }), gate: "solvable", codes: ["raise"] },
  "has a solution on most seeds only": { source: oneTurn({ reset: addition, solution: "return [str(self.key + (self.key % 5 == 0))]" }), gate: "solvable", codes: ["loses"] },
  "takes too many turns": {
    source: `
class Long(TextGame):
    max_turns = 3
    def reset(self, seed=None):
        self.start(seed)
        self.left = 4
        return self.show(f"Carry four trays of loaves {seed}")
    def step(self, action):
        self.left -= action == "carry"
        return self.finish(True) if self.left == 0 else self.tell("Carry on, baker.")
    def solution(self):
        return ["carry"] * 4
`,
    gate: "solvable",
    codes: ["turns"],
  },
  "has the answer 7 on every seed": { source: oneTurn({ reset: addition.replace("self.key = a + b", "self.key = 7") }), gate: "not-trivial", codes: ["trivial"] },
  "asks for the last number": { source: oneTurn({ reset: addition.replace("self.key = a + b", "self.key = b") }), gate: "not-trivial", codes: ["trivial"] },
  "asks for its first word": {
    source: oneTurn({ reset: "self.key = rng.choice(['amber', 'olive', 'violet', 'ferry', 'flour'])\nreturn f'{self.key.title()} boxes leave the bakery on {rng.randint(2, 9)} trays. Which?', {}" }),
    gate: "not-trivial",
    codes: ["trivial"],
  },
  "is won by waiting": {
    source: `
class Oven(TextGame):
    max_turns = 9
    def reset(self, seed=None):
        self.minutes = self.start(seed).randint(4, 8)
        return self.show(f"The oven bakes loaves for {self.minutes} turns. Say yes to wait.")
    def step(self, action):
        self.minutes -= action.strip() == "yes"
        return self.finish(True, "Baked.") if self.minutes == 0 else self.tell("The loaves are pale.")
    def solution(self):
        return ["yes"] * self.minutes
`,
    gate: "not-trivial",
    codes: ["trivial"],
  },
  "prints a word that is the answer": {
    source: oneTurn({
      reset: "self.key = rng.choice(['amber', 'olive', 'violet', 'ferry', 'flour', 'crew', 'dawn', 'harbour'])\nn = rng.randint(2, 9)\nreturn f'The baker whispers that the secret is {self.key} and goes to bake {n} loaves. Tell the crew the secret.', {}",
    }),
    gate: "leak",
    codes: ["cue"],
  },
  "prints a number that is the answer": {
    source: oneTurn({ reset: addition.replace("return f'The baker", "return f'Of {a} boxes the key is {self.key}. The baker") }),
    gate: "leak",
    codes: ["cue"],
  },
  "prints a long answer somewhere": {
    source: oneTurn({
      reset: [
        "words = [rng.choice(['amber', 'olive', 'violet']) for _ in range(4)]",
        "self.key = ' '.join(words)",
        "noise = [rng.choice(['flour', 'bun', 'dawn', 'tray']) for _ in range(9)]",
        "at = rng.randint(0, 9)",
        "return 'The baker calls to the ferry ' + ' '.join(noise[:at] + words + noise[at:]), {}",
      ].join("\n"),
    }),
    gate: "leak",
    codes: ["verbatim"],
  },
};
