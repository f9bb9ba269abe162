type Person = { name: string; hat: string; shoe: number; alibi: boolean };

class Rng {
  private state: number;

  constructor(seed: number) {
    this.state = (Math.imul(seed + 1, 2654435761) ^ 0x5bd1e995) >>> 0;
    for (let i = 0; i < 4; i++) this.next();
  }

  next(): number {
    this.state ^= this.state << 13;
    this.state ^= this.state >>> 17;
    this.state ^= this.state << 5;
    this.state >>>= 0;
    return this.state / 4294967296;
  }

  int(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  shuffle<T>(items: readonly T[]): T[] {
    const copy = [...items];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.int(0, i);
      const held = copy[i] as T;
      copy[i] = copy[j] as T;
      copy[j] = held;
    }
    return copy;
  }
}

/** Elimination by questions: ask about one suspect at a time, accuse once. */
export default class SuspectFiles {
  private people: Person[] = [];
  private thief = "";
  private turns = 0;
  maxTurns = 9;

  reset(seed: number) {
    const rng = new Rng(seed);
    const names = rng.shuffle(["Agnes", "Boris", "Clara", "Dmitri", "Elsa", "Frits", "Greta"]).slice(0, 6);
    this.people = names.map((name) => ({ name, hat: rng.next() < 0.5 ? "felt" : "straw", shoe: rng.int(38, 45), alibi: rng.next() < 0.4 }));
    const index = rng.int(0, 5);
    const thief = this.people[index] as Person;
    thief.alibi = false;
    this.people.forEach((person, i) => {
      if (i !== index && person.hat === thief.hat && person.shoe === thief.shoe) person.alibi = true;
    });
    this.thief = thief.name;
    this.turns = 0;
    return {
      observation:
        `A necklace was stolen at the inn. The detective knows: the thief wore a ${thief.hat} hat, left the print of a shoe of size ${thief.shoe}, and has no alibi. ` +
        `Suspects: ${names.join(", ")}. Say 'ask NAME' to read a file, or 'accuse NAME', once.`,
    };
  }

  step(action: string) {
    this.turns += 1;
    const truncated = this.turns >= this.maxTurns;
    const [verb = "", name = ""] = action.trim().toLowerCase().split(/\s+/);
    const person = this.people.find((one) => one.name.toLowerCase() === name);
    if (person === undefined || (verb !== "ask" && verb !== "accuse")) {
      return { observation: "The detective waits for 'ask NAME' or 'accuse NAME'.", reward: 0, terminated: false, truncated };
    }
    if (verb === "accuse") {
      const right = person.name === this.thief;
      return { observation: right ? "The thief confesses." : "The thief escapes.", reward: right ? 1 : 0, terminated: true, truncated: false };
    }
    const file = `${person.name}: ${person.hat} hat, shoe size ${person.shoe}, ${person.alibi ? "has an alibi" : "no alibi"}.`;
    return { observation: file, reward: 0, terminated: false, truncated };
  }

  solution(): string[] {
    return [`accuse ${this.thief}`];
  }

  hint(): string {
    return "Read the files until only one suspect fits all three facts, then accuse.";
  }
}
