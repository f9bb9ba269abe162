interface ToolSchema {
  type: "function";
  function: { name: string; description: string; parameters: object };
}

interface Ship {
  name: string;
  length: number;
  berth: number | null;
}

/** Multi-step workflow in TypeScript: find a free berth that is long enough, tow the ship there, confirm. Own small tool loop. */
export default class BerthTools {
  readonly maxTurns = 8;
  private berths: { number: number; length: number; taken: boolean }[] = [];
  private ship: Ship = { name: "", length: 0, berth: null };
  private best = 0;
  private turns = 0;

  reset(seed: number) {
    let s = (seed + 101) >>> 0;
    const int = (low: number, high: number): number => {
      s = (Math.imul(s, 69069) + 362437) >>> 0;
      return low + ((s >>> 9) % (high - low + 1));
    };
    for (;;) {
      this.berths = Array.from({ length: 6 }, (_, i) => ({ number: 10 * (i + 1) + int(0, 9), length: int(60, 240), taken: int(0, 2) === 0 }));
      this.ship = { name: ["Halcyon", "Petrel", "Gannet", "Skua"][int(0, 3)] ?? "", length: int(70, 190), berth: null };
      const fit = this.berths.filter((berth) => !berth.taken && berth.length >= this.ship.length).sort((a, b) => a.length - b.length);
      if (fit.length >= 2 && fit[0]?.length !== fit[1]?.length) {
        this.best = fit[0]?.number ?? 0;
        break;
      }
    }
    this.turns = 0;
    return {
      observation:
        `The harbour master must bring the ship ${this.ship.name}, ${this.ship.length} metres long, to the shortest free berth that is long enough. ` +
        `Tools: ${JSON.stringify(this.tools().map((tool) => tool.function))} Reply with <tool_call>{"name": ..., "arguments": {...}}</tool_call>.`,
      info: { tools: this.tools() },
    };
  }

  tools(): ToolSchema[] {
    const declare = (name: string, description: string, properties: object): ToolSchema => ({
      type: "function",
      function: { name, description, parameters: { type: "object", properties, required: Object.keys(properties) } },
    });
    return [
      declare("list_berths", "All berths of the harbour with length and whether they are taken", {}),
      declare("tow", "Tows the ship to a berth", { berth: { type: "integer" } }),
      declare("confirm", "Confirms the mooring of the ship", { ship: { type: "string" } }),
      declare("sound_horn", "Sounds the horn", {}),
    ];
  }

  private run(name: string, given: Record<string, unknown>): { said: string; done?: boolean } {
    switch (name) {
      case "list_berths":
        return { said: JSON.stringify(this.berths) };
      case "tow": {
        const berth = this.berths.find((one) => one.number === given["berth"]);
        if (berth === undefined || berth.taken || berth.length < this.ship.length) return { said: "error: the ship cannot be towed there" };
        this.ship.berth = berth.number;
        return { said: `towed to ${berth.number}` };
      }
      case "confirm":
        if (given["ship"] !== this.ship.name || this.ship.berth === null) return { said: "error: nothing to confirm" };
        return { said: "confirmed", done: true };
      case "sound_horn":
        return { said: "the horn sounds" };
      default:
        return { said: `error: unknown tool ${name.slice(0, 40)}` };
    }
  }

  step(action: string) {
    this.turns++;
    const truncated = this.turns >= this.maxTurns;
    const block = /<tool_call>([\s\S]*?)<\/tool_call>/.exec(action)?.[1];
    let call: { name?: unknown; arguments?: unknown } | undefined;
    try {
      const parsed: unknown = JSON.parse(block ?? "null");
      if (typeof parsed === "object" && parsed !== null) call = parsed;
    } catch {
      call = undefined;
    }
    if (typeof call?.name !== "string") return { observation: "No readable tool call was found.", reward: 0, terminated: false, truncated };
    const given = typeof call.arguments === "object" && call.arguments !== null ? (call.arguments as Record<string, unknown>) : {};
    const { said, done = false } = this.run(call.name, given);
    return { observation: said, reward: done && this.ship.berth === this.best ? 1 : 0, terminated: done, truncated: truncated && !done };
  }

  solution(): string[] {
    const call = (name: string, given: object): string => `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;
    return [call("list_berths", {}), call("tow", { berth: this.best }), call("confirm", { ship: this.ship.name })];
  }
}
