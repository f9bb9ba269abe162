import { codeMatches, spliced } from "../code-mask.ts";
import { type MutationOperator, rewriting, wrapping } from "./operator.ts";

/** Faults of the text of a program or reply: what does not load. */
export const sourceFaults: readonly MutationOperator[] = [
  rewriting({ id: "syntax-error", fault: "a colon or brace is missing", python: { pattern: /\):(?=\n)/g, replacement: () => ")" }, typescript: { pattern: /\}(?=\s*$)/g, replacement: () => "" } }),
  rewriting({ id: "indentation-error", fault: "a statement is indented by one space less", python: { pattern: /^ {8}(?=return\b)/gm, replacement: () => "       " } }),
  renamed("reset-missing", "there is no reset", "reset"),
  renamed("step-missing", "there is no step", "step"),
  { id: "fence-unclosed", fault: "the reply is cut off before its code block ends", kind: "executable", form: "reply", mutate: ({ source, language }) => `Here is the program.\n\`\`\`${language}\n${source}` },
  { id: "fence-missing", fault: "the reply has no code block", kind: "executable", form: "reply", mutate: ({ source }) => `Here is the program.\n${source}` },
];

function renamed(id: string, fault: string, method: "reset" | "step"): MutationOperator {
  return {
    ...{ id, fault, kind: "executable", form: "program" },
    mutate: ({ source, language }) => {
      const places = codeMatches(source, language, language === "python" ? new RegExp(`\\bdef ${method}\\b`, "g") : new RegExp(`^\\s+${method}(?=\\()`, "gm"));
      if (places.length === 0 || (method === "step" && source.includes("ToolUseBaseEnv"))) return undefined;
      return places.reduceRight((text, place) => spliced(text, place, place.text.replace(method, `${method}_game`)), source);
    },
  };
}

/** An operator that changes what reset tells, while code and solution() stay as they are and agree. */
function told(id: string, fault: string, [python, typescript]: readonly [string, string]): MutationOperator {
  return wrapping({ id, fault, kind: "semantic", python: { prelude: ["import re"], afterReset: [python] }, typescript: { afterReset: [typescript] } });
}

/** Faults between the text and the code: none of these can be seen without understanding the text. */
export const semanticFaults: readonly MutationOperator[] = [
  told("text-number-changed", "the first number of the text is one too high", ['text = re.sub(r"\\d+", lambda found: str(int(found.group()) + 1), text, count=1)', "text = text.replace(/\\d+/, (found) => String(Number(found) + 1));"]),
  told("text-number-dropped", "the last number of the text is withheld", ['text = re.sub(r"\\d+(?=\\D*$)", "some", text)', 'text = text.replace(/\\d+(?=\\D*$)/, "some");']),
  told("text-last-sentence-dropped", "the last sentence of the text is missing", ['text = re.sub(r"(?<=[.!?]) [^.!?]+[.!?]?\\s*$", "", text)', 'text = text.replace(/(?<=[.!?]) [^.!?]+[.!?]?\\s*$/, "");']),
  wrapping({
    id: "text-direction-swapped",
    fault: "words for opposite directions are exchanged in the text",
    kind: "semantic",
    python: { prelude: ["import re", 'OPPOSITE = dict(more="less", less="more", most="least", least="most", first="last", last="first", left="right", right="left", before="after", after="before", fewest="most", north="south", south="north")'], afterReset: ['text = re.sub(r"[a-z]+", lambda found: OPPOSITE.get(found.group(), found.group()), text)'] },
  }),
  wrapping({ id: "text-of-other-seed", fault: "the text is that of the next seed", kind: "semantic", python: { beforeReset: ["other = super().reset(seed + 1)"], afterReset: ["text = other[0] if isinstance(other, tuple) else other"] }, typescript: { beforeReset: ["const other = super.reset(seed + 1);"], afterReset: ['text = typeof other === "string" ? other : other.observation;'] } }),
];
