const parts = ["lever", "bell", "fan", "candle", "marble", "ladle", "kettle", "wheel"];

/** Predict which parts of a chain-reaction machine move when one link is cut: a do-operation on a small graph. */
export default class DominoCause {
  private moved: string[] = [];

  reset(seed: number) {
    let a = (seed * 2 + 1) >>> 0;
    const rand = (n: number): number => {
      a = (Math.imul(a, 22695477) + 1) >>> 0;
      return (a >>> 12) % n;
    };
    for (let i = 0; i < 5; i++) rand(2);
    const order = [...parts];
    for (let i = order.length - 1; i > 0; i--) {
      const j = rand(i + 1);
      [order[i], order[j]] = [order[j] ?? "", order[i] ?? ""];
    }
    const parents = new Map<string, { mode: "either" | "both"; from: string[] }>();
    order.slice(2).forEach((part, i) => {
      const earlier = order.slice(Math.max(0, i - 1), i + 2);
      const first = rand(earlier.length);
      const second = (first + 1 + rand(earlier.length - 1)) % earlier.length;
      parents.set(part, { mode: rand(2) === 0 ? "either" : "both", from: [earlier[first] ?? "", earlier[second] ?? ""] });
    });
    const held = order[2 + rand(3)] ?? "";
    const moving = new Set(order.slice(0, 2));
    for (const [part, { mode, from }] of parents) {
      const live = from.filter((one) => moving.has(one)).length;
      if (part !== held && (mode === "both" ? live === 2 : live > 0)) moving.add(part);
    }
    this.moved = [...moving].sort();
    const rules = [...parents].map(([part, { mode, from }]) => `the ${part} moves when ${mode === "both" ? "both" : "at least one"} of ${from.join(" and ")} move${mode === "both" ? "" : "s"}`);
    return {
      observation:
        `An inventor's machine starts with the ${order[0] ?? ""} and the ${order[1] ?? ""} moving. Then ${rules.sort().join("; ")}. A child holds the ${held} fast. ` +
        "Which parts move? List all moving parts in alphabetical order, with commas, in \\boxed{}.",
    };
  }

  step(action: string) {
    const named = action.toLowerCase().split(",").map((word) => word.trim().replace(/^the /, "")).filter((word) => word !== "");
    const won = named.join(",") === this.moved.join(",");
    return { observation: won ? "So it happens." : "The machine does otherwise.", reward: won ? 1 : 0, terminated: true, truncated: false };
  }

  solution() {
    return [this.moved.join(", ")];
  }
}
