/** Infer a cellular automaton's table from rows of a woven cloth and weave the next row. */
export default class CellRows {
  #next = "";
  #turn = 0;

  static #row(before: string, table: readonly number[]): string {
    const n = before.length;
    let row = "";
    for (let i = 0; i < n; i++) {
      const [a, b, c] = [before[(i + n - 1) % n], before[i], before[(i + 1) % n]].map((cell) => (cell === "#" ? 1 : 0));
      row += table[4 * (a ?? 0) + 2 * (b ?? 0) + (c ?? 0)] === 1 ? "#" : ".";
    }
    return row;
  }

  static #contexts(rows: readonly string[]): Set<string> {
    const seen = new Set<string>();
    for (const row of rows) {
      const round = (row.at(-1) ?? "") + row + (row[0] ?? "");
      for (let i = 0; i < row.length; i++) seen.add(round.slice(i, i + 3));
    }
    return seen;
  }

  reset(seed: number): { observation: string } {
    let x = (seed + 17) >>> 0;
    const bit = (): number => {
      x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
      return (x >>> 19) & 1;
    };
    for (;;) {
      const table = Array.from({ length: 8 }, bit);
      const rows = [Array.from({ length: 11 }, () => (bit() === 1 ? "#" : ".")).join("")];
      for (let i = 0; i < 5; i++) rows.push(CellRows.#row(rows.at(-1) ?? "", table));
      const shown = rows.slice(0, 5);
      const fresh = new Set(rows).size === rows.length;
      const known = CellRows.#contexts(shown.slice(0, 4));
      if (!fresh || [...CellRows.#contexts([rows[4] ?? ""])].some((context) => !known.has(context))) continue;
      this.#next = rows[5] ?? "";
      this.#turn = 0;
      return {
        observation:
          `A weaver makes each row of a round cloth from the row above: every thread depends on the thread above it and that one's two neighbours (the ends of a row are neighbours). The rows so far:\n${shown.join("\n")}\n` +
          "Which row comes next? Write its 11 threads, # or ., in \\boxed{}. There are two attempts.",
      };
    }
  }

  step(action: string) {
    this.#turn++;
    const won = action.replace(/\s/g, "") === this.#next;
    const last = this.#turn >= 2;
    return { observation: won ? "The row fits." : "The row does not fit.", reward: Number(won), terminated: won || last, truncated: false };
  }

  solution(): string[] {
    return [this.#next];
  }
}
