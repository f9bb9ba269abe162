/** Cases of the guest library that both languages are held to. */

/** Gold answer, answer, whether `verify` takes it; the first are the project's shared cases (`mathEquivalence`). */
export const verifyCases: readonly (readonly [gold: string, answer: string, expected: boolean])[] = [
  ["\\frac12", "\\frac13", false],
  ["\\frac12", "0.5", true],
  ["9", "009", true],
  ["9", "2003^{2002^{2001}} \\bmod 1000", false],
  ["\\frac{1}{2}", "1/2", true],
  ["\\dfrac{3}{4}", "$0.75$", true],
  ["1\\frac12", "1.5", true],
  ["\\boxed{12}", "12", true],
  ["(1, 2)", "(1,2)", true],
  ["(1, 2)", "(2,1)", false],
  ["\\{1, \\frac12\\}", "\\left\\{0.5, 1\\right\\}", true],
  ["\\left\\{\\frac{1}{2},\\{3\\}\\right\\}", "\\{\\{3\\},0.5\\}", true],
  ["2^{10}", "1024", true],
  ["2^{-1}", "0.5", true],
  ["9", "9^{99999999}", false],
  ["9^{9^{9^{9}}}", "9", false],
  ["\\sqrt{16}", "4", true],
  ["x = 5", "5", true],
  ["1,234", "1234", true],
  ["\\text{E}", "E", true],
  ["12", "\\boxed{12", false],
  ["0", "1/0", false],
  ["", "", false],
  ["3", "3.0000001", false],
  ["50\\%", "0.5", true],
  ["50", "50%", true],
  ["50\\%", "5", false],
  ["1e3", "1000", true],
  ["2(3)", "6", true],
  ["−3", "-3", true],
  ["\\frac{x+1}{2}", "(1+x)/2", true],
  ["x^2-1", "(x-1)(x+1)", true],
  ["x^2-1", "(x-1)(x-1)", false],
  ["(a+b)^2", "a^2+2ab+b^2", true],
  ["2\\pi", "\\pi \\cdot 2", true],
  ["x+x-2x+3", "3", true],
  ["a-b", "b-a", false],
  ["(x, 2)", "(x,2)", true],
  ["\\{a, b\\}", "\\{b, a\\}", true],
  ["east", "seat", false],
  ["no", "on", false],
  ["x^{1000000}", "x", false],
  ["((((((((((x+1)^9)^9)^9)^9)^9)^9)^9)^9)^9)^9", "x", false],
  ["a, \\boxed{\\frac13}, \\boxed{\\left\\{\\frac12,\\{3\\}\\right\\}}", "\\{\\{3\\}, 1/2\\}", true],
  ["\\boxed  {go north}", "go north", true],
  ["not \\boxed{3} but \\boxed{5}", "5", true],
  ["\\boxed{{1,2},{3,4}}", "{1,2},{3,4}", true],
  ["9".repeat(3000), "9", false],
  ["2+-3", "-1", true],
  ["50\\%", "\\frac12", true],
];

/** Two plain answers, whether `same` takes them for one. */
export const sameCases: readonly (readonly [left: string, right: unknown, expected: boolean])[] = [
  ["009", 9, true],
  ["7.0", 7, true],
  ["-0.50", -0.5, true],
  [" Red  Apple", "red apple", true],
  ["red", "blue", false],
  ["3+4", 7, false],
  ["1e3", 1000, true],
  ["9e999999999", 1, false],
  ["1 2 3", [1, 2, 3], true],
  ["1, 2,3.0", [1, 2, 3], true],
  ["[1, 2]", [1, 2], true],
  ["1 2", [1, 2, 3], false],
  ["", "", true],
  ["0.3", 0.30000000000000004, true],
];

export interface ToolCallCase {
  readonly id: string;
  readonly text: string;
  /** Type by parameter of the called tool. */
  readonly schema?: Readonly<Record<string, string>>;
  readonly calls: readonly (readonly [name: string, values: unknown])[];
  readonly warnings?: number;
  readonly errors?: number;
  readonly answer?: string;
}

/** Facts of the project's shared cases (`toolCalls`), and further inputs of each kind. */
export const toolCallCases: readonly ToolCallCase[] = [
  { id: "T1 nested arguments", text: '<tool_call>{"name":"set_cfg","arguments":{"opts":{"retry":{"max":3}}}}</tool_call>', calls: [["set_cfg", { opts: { retry: { max: 3 } } }]] },
  { id: "T2 braces and a tag in a string", text: `<tool_call>{"name":"sh","arguments":{"cmd":"mkdir -p a/{b,c && echo '</tool_call>' }}"}}</tool_call>`, calls: [["sh", { cmd: "mkdir -p a/{b,c && echo '</tool_call>' }}" }]] },
  { id: "T3a two objects", text: '<tool_call>{"name":"list_notes","arguments":{"tag":"x"}}{"name":"list_notes","arguments":{"tag":"y"}}</tool_call>', calls: [["list_notes", { tag: "x" }], ["list_notes", { tag: "y" }]] },
  { id: "T3b an array", text: '<tool_call>[{"name":"a","arguments":{}},{"name":"b","arguments":{"k":1}}]</tool_call>', calls: [["a", {}], ["b", { k: 1 }]] },
  {
    id: "T4 coercion by schema",
    schema: { zip: "string", n: "integer", when: "integer", ok: "boolean" },
    text: "<tool_call><function=t><parameter=zip>02134</parameter><parameter=n>7</parameter><parameter=when>2026-01-15</parameter><parameter=ok>True</parameter></function></tool_call>",
    calls: [["t", { zip: "02134", n: 7, when: "2026-01-15", ok: true }]],
    warnings: 1,
  },
  { id: "T5a no arguments", text: '<tool_call>{"name":"ping"}</tool_call>', calls: [["ping", {}]] },
  { id: "T5b parameters", text: '<tool_call>{"name":"put","parameters":{"k":"a"}}</tool_call>', calls: [["put", { k: "a" }]], warnings: 1 },
  { id: "T5c null arguments", text: '<tool_call>{"name":"put","arguments":null}</tool_call>', calls: [["put", {}]] },
  { id: "T5d arguments as text", text: '<tool_call>{"name":"put","arguments":"{\\"k\\":\\"a\\"}"}</tool_call>', calls: [["put", { k: "a" }]] },
  { id: "T5e a number for a name", text: '<tool_call>{"name":7,"arguments":{}}</tool_call>', calls: [], errors: 1 },
  { id: "a dotted name", text: "<tool_call><function=api.get><parameter=id>5</parameter></function></tool_call>", calls: [["api.get", { id: "5" }]] },
  { id: "a call in a think block", text: '<think>maybe <tool_call>{"name":"rm","arguments":{}}</tool_call></think>I look. <tool_call>{"name":"ls","arguments":{}}</tool_call>', calls: [["ls", {}]] },
  { id: "a think block opened in the prompt", text: '<tool_call>{"name":"rm"}</tool_call> no.</think><tool_call>{"name":"ls"}</tool_call>', calls: [["ls", {}]], warnings: 1 },
  { id: "a think block that never ends", text: '<think><tool_call>{"name":"rm"}</tool_call><answer>5</answer>', calls: [] },
  { id: "a think tag in a string", text: '<tool_call>{"name":"say","arguments":{"text":"<think>{"}}</tool_call><answer>4</answer>', calls: [["say", { text: "<think>{" }]], answer: "4" },
  { id: "a cut block", text: '<tool_call>{"name":"ls","arguments":{"path":"/ho', calls: [], errors: 1 },
  { id: "a block cut after its object", text: '<tool_call>{"name":"ls"}', calls: [["ls", {}]], warnings: 1 },
  { id: "a bad block before a good one", text: '<tool_call>ls please</tool_call><tool_call>{"name":"ls"}</tool_call>', calls: [["ls", {}]], errors: 1 },
  { id: "text types stay text", schema: { a: "string", b: "string", c: "string" }, text: "<tool_call><function=t><parameter=a>12345</parameter><parameter=b>true</parameter><parameter=c>1e5</parameter></function></tool_call>", calls: [["t", { a: "12345", b: "true", c: "1e5" }]] },
  { id: "a closing tag in an XML value", text: "<tool_call><function=t><parameter=a>x</parameter>y\n</parameter></function></tool_call>", calls: [["t", { a: "x</parameter>y" }]] },
  { id: "objects in XML", schema: { a: "object", b: "array" }, text: '<tool_call><function=t><parameter=a>{"k":{"m":1}}</parameter><parameter=b>[1,2]</parameter></function></tool_call>', calls: [["t", { a: { k: { m: 1 } }, b: [1, 2] }]] },
  { id: "NaN is no JSON", text: '<tool_call>{"name":"t","arguments":{"a":NaN}}</tool_call>', calls: [], errors: 1 },
  { id: "the last answer counts", text: "<answer>1</answer> no, <answer> 2 </answer>", calls: [], answer: "2" },
  { id: "a deep argument", text: `<tool_call>{"name":"t","arguments":{"a":${"[".repeat(1900)}`, calls: [], errors: 1 },
  { id: "a deep argument that closes", text: `<tool_call>{"name":"ls"}</tool_call><tool_call>{"name":"t","arguments":{"a":${"[".repeat(60)}${"]".repeat(60)}, "b": }}</tool_call>`, calls: [["ls", {}]], errors: 1 },
  { id: "a very deep argument", text: `<tool_call>{"name":"t","arguments":{"a":${"[".repeat(5000)}`, calls: [], errors: 1 },
];
