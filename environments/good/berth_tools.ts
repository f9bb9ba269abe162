interface Berth {
  number: number;
  length: number;
  taken: boolean;
}

/** Multi-step workflow in TypeScript: find the shortest free berth that is long enough, tow the ship there, confirm. */
export default class BerthTools extends ToolUseBase {
  maxTurns = 8;
  private ship = "";
  private best = 0;

  reset(seed: number) {
    const random = new Random(seed);
    const length = random.int(70, 190);
    let berths: Berth[];
    let fit: Berth[];
    do {
      berths = Array.from({ length: 6 }, (_, i) => ({ number: 10 * (i + 1) + random.int(0, 9), length: random.int(60, 240), taken: random.int(0, 2) === 0 }));
      fit = berths.filter((berth) => !berth.taken && berth.length >= length).sort((a, b) => a.length - b.length);
    } while (fit.length < 2 || fit[0].length === fit[1].length);
    this.ship = random.choice(["Halcyon", "Petrel", "Gannet", "Skua"]);
    this.best = fit[0].number;
    this.state = { berths, length, berth: 0, moored: 0 };
    const declare = (name: string, description: string, properties: object) => ({
      type: "function",
      function: { name, description, parameters: { type: "object", properties, required: Object.keys(properties) } },
    });
    this.schemas = [
      declare("list_berths", "All berths of the harbour with length and whether they are taken", {}),
      declare("tow", "Tows the ship to a berth", { berth: { type: "integer" } }),
      declare("confirm", "Confirms the mooring of the ship, once and for all", { ship: { type: "string" } }),
      declare("sound_horn", "Sounds the horn", {}),
    ];
    this.userMessages = [`The ship ${this.ship} is ${length} metres long. Bring her to the shortest free berth that is long enough.`, `Now confirm the mooring of ${this.ship}.`];
    this.messageCriteria = [(state) => state.berth === this.best, (state) => state.moored === this.best];
    return this.begin("You serve the harbour master.");
  }

  tool_list_berths() {
    return this.state.berths;
  }

  tool_tow({ berth }: { berth: number }) {
    const wanted = this.state.berths.find((one: Berth) => one.number === berth);
    if (this.state.moored !== 0 || wanted === undefined || wanted.taken || wanted.length < this.state.length) throw new Error("the ship cannot be towed there");
    this.state.berth = berth;
    return `towed to ${berth}`;
  }

  tool_confirm({ ship }: { ship: string }) {
    if (ship !== this.ship || this.state.berth === 0) throw new Error("nothing to confirm");
    this.state.moored = this.state.berth;
    return "confirmed";
  }

  tool_sound_horn() {
    return "the horn sounds";
  }

  solution(): string[] {
    const call = (name: string, given: object): string => `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`;
    return [call("list_berths", {}), call("tow", { berth: this.best }), call("confirm", { ship: this.ship })];
  }
}
