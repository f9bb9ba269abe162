const lcg = (seed: number) => {
  let x = (seed * 7919 + 12345) % 2147483647;
  return (n: number): number => {
    for (let i = 0; i < 3; i++) x = Number((BigInt(x) * 48271n + 11n) % 2147483647n);
    return x % n;
  };
};

const letters = ["A", "B", "C", "D", "E", "F", "G", "H", "K"];

function turn(grid: string[]): string[] {
  return [6, 3, 0, 7, 4, 1, 8, 5, 2].map((from) => grid[from] ?? "");
}

function mirror(grid: string[]): string[] {
  return [2, 1, 0, 5, 4, 3, 8, 7, 6].map((from) => grid[from] ?? "");
}

/** Rotations and reflections of a 3 by 3 stained-glass window, composed in the mind. */
export default class TileTurn {
  key = "";

  reset(seed: number) {
    const pick = lcg(seed + 3);
    const pool = [...letters];
    let grid: string[] = [];
    while (pool.length > 0) grid.push(...pool.splice(pick(pool.length), 1));
    const shown = [grid.slice(0, 3), grid.slice(3, 6), grid.slice(6, 9)].map((row) => row.join(" ")).join("\n");
    const told: string[] = [];
    for (let left = 3 + pick(3); left > 0; left--) {
      const kind = pick(3);
      if (kind === 0) {
        grid = turn(grid);
        told.push("a quarter turn clockwise");
      } else if (kind === 1) {
        grid = turn(turn(turn(grid)));
        told.push("a quarter turn anticlockwise");
      } else {
        grid = mirror(grid);
        told.push("a swap of left and right");
      }
    }
    this.key = grid.join("");
    return { observation: `A glazier's window has nine panes:\n${shown}\nThe glazier gives it ${told.join(", then ")}. Read the window row by row and write the nine letters without spaces in \\boxed{}.` };
  }

  step(action: string) {
    const given = action.toUpperCase().replace(/[^A-Z]/g, "");
    return { observation: "The window is set.", reward: given === this.key ? 1 : 0, terminated: true, truncated: false, info: { length: given.length } };
  }

  solution() {
    return [this.key];
  }
}
