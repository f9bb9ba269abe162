import { parseArgs } from "node:util";
import { SpadeError } from "../core/errors.ts";

/** One option of a command. */
export interface OptionSpec {
  readonly name: string;
  /** Placeholder of the value; absent for a switch. */
  readonly value?: string;
  /** The value may be left out; it is then the empty string. */
  readonly optionalValue?: boolean;
  /** May be given more than once; read with `texts`. */
  readonly repeatable?: boolean;
  readonly help: string;
}

/** A command as `--help` shows it and as the parser reads it. */
export interface CommandSpec {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly options: readonly OptionSpec[];
  readonly run: (args: Arguments) => number | Promise<number>;
}

type Values = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** Parsed arguments of one command. */
export class Arguments {
  readonly positionals: readonly string[];
  private readonly values: Values;
  private readonly spec: CommandSpec;

  constructor(spec: CommandSpec, positionals: readonly string[], values: Values) {
    this.spec = spec;
    this.positionals = positionals;
    this.values = values;
  }

  /** True when the switch was given. */
  flag(name: string): boolean {
    return this.values[name] === true;
  }

  /** Value of an option, if given. */
  text(name: string): string | undefined {
    const value = this.values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** Values of a repeatable option, in order. */
  texts(name: string): readonly string[] {
    const value = this.values[name];
    return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
  }

  /** Value of an option as a whole number. @throws SpadeError usage.number */
  integer(name: string): number | undefined {
    const value = this.text(name);
    if (value === undefined) return undefined;
    if (!/^\d+$/.test(value)) {
      throw new SpadeError("usage.number", `--${name} must be a whole number of at least 0, not "${value}". See: spade ${this.spec.name} --help`);
    }
    return Number(value);
  }

  /** The same, `byDefault` where it is not given. @throws SpadeError usage.number for 0 too */
  atLeastOne(name: string, byDefault: number): number {
    const value = this.integer(name) ?? byDefault;
    if (value < 1) throw new SpadeError("usage.number", `--${name} must be at least 1, not ${value}. See: spade ${this.spec.name} --help`);
    return value;
  }

  /** Positional argument at `index`. @throws SpadeError usage.missing */
  required(index: number, what: string): string {
    const value = this.positionals[index];
    if (value === undefined) throw new SpadeError("usage.missing", `${what} is missing. Usage: spade ${this.spec.usage}`);
    return value;
  }
}

/** Parses the words after a command's name. @throws SpadeError usage.option for an unknown option or a missing value */
export function parseArguments(spec: CommandSpec, words: readonly string[]): Arguments {
  const options = Object.fromEntries(
    [...spec.options, { name: "help" }].map((option) => [option.name, { type: "value" in option ? ("string" as const) : ("boolean" as const), multiple: "repeatable" in option }]),
  );
  const optional = new Set(spec.options.filter((option) => option.optionalValue === true).map((option) => `--${option.name}`));
  const args = words.flatMap((word, i) => (optional.has(word) && (words[i + 1] ?? "--").startsWith("--") ? [`${word}=`] : [word]));
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true });
    return new Arguments(spec, positionals, values);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split(". ")[0] : String(cause);
    throw new SpadeError("usage.option", `${reason ?? ""}. See: spade ${spec.name} --help`, { cause });
  }
}

/** Help text of one command. */
export function commandHelp(spec: CommandSpec): string {
  const options: readonly OptionSpec[] = [...spec.options, { name: "help", help: "show this text" }];
  const left = options.map((option) => `--${option.name}${option.value === undefined ? "" : option.optionalValue === true ? ` [${option.value}]` : ` ${option.value}`}`);
  const width = Math.max(...left.map((text) => text.length));
  return [`spade ${spec.usage}`, "", spec.summary, "", "Options", ...options.map((option, i) => `  ${(left[i] ?? "").padEnd(width)}  ${option.help}`)].join("\n");
}

/** Help text of the whole program: names, for their usage is long; each command's own help has it. */
export function programHelp(specs: readonly CommandSpec[]): string {
  const width = Math.max(...specs.map((spec) => spec.name.length));
  return [
    "spade: self-play reinforcement learning in environments the policy writes itself",
    "",
    "Commands (spade <command> --help says more)",
    ...specs.map((spec) => `  ${spec.name.padEnd(width)}  ${spec.summary.split(". ")[0] ?? ""}`),
    "",
    "Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 limit of spending reached, 130 interrupted.",
  ].join("\n");
}
