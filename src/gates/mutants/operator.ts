import type { Program } from "../../core/environment.ts";
import { Rng } from "../../core/seed.ts";
import { codeMatches, spliced } from "../code-mask.ts";
import { wrapped, type Wrapper } from "./wrap.ts";

/** Plants one fault in a program. */
export interface MutationOperator {
  readonly id: string;
  /** The fault, in words. */
  readonly fault: string;
  /** `executable`: playing can reveal it; `semantic`: text against code and oracle, which agree: no execution can. */
  readonly kind: "executable" | "semantic";
  /** What the mutated text is: a program, or a designer's reply from which one is still to be extracted. */
  readonly form: "program" | "reply";
  /** The mutated text; undefined where the fault cannot be planted. A pure function of program and seed. */
  readonly mutate: (program: Program, seed: number) => string | undefined;
}

/** A fault's name and kind. */
type Named = Pick<MutationOperator, "id" | "fault"> & Partial<Pick<MutationOperator, "kind" | "form">>;

/** An operator that wraps the program's class; by language, those left out are not mutated. */
export function wrapping(named: Named & { readonly python?: Wrapper; readonly typescript?: Wrapper; readonly applies?: (program: Program) => boolean }): MutationOperator {
  const { id, fault, kind = "executable", form = "program", applies } = named;
  return {
    ...{ id, fault, kind, form },
    mutate: (program) => {
      const wrapper = named[program.language];
      return wrapper === undefined || applies?.(program) === false ? undefined : wrapped(program, wrapper);
    },
  };
}

/** What a pattern in the code becomes, by language. */
export interface Rewrite {
  readonly pattern: RegExp;
  readonly replacement: (found: string) => string;
}

/** An operator that rewrites one place of the code, drawn among all that match (strings and comments are not code). */
export function rewriting(named: Named & { readonly python?: Rewrite; readonly typescript?: Rewrite }): MutationOperator {
  const { id, fault, kind = "executable", form = "program" } = named;
  return {
    ...{ id, fault, kind, form },
    mutate: ({ source, language }, seed) => {
      const rewrite = named[language];
      const places = rewrite === undefined ? [] : codeMatches(source, language, rewrite.pattern);
      if (rewrite === undefined || places.length === 0) return undefined;
      const place = new Rng(seed).pick(places);
      return spliced(source, place, rewrite.replacement(source.slice(place.index, place.index + place.text.length)));
    },
  };
}
