import { SpadeError } from "../../../src/core/errors.ts";
import { lex, lexLine } from "./lexer.ts";
import type { Token } from "./lexer.ts";
import type { Expr, Loop, Stmt } from "./syntax.ts";

const end: Token = { kind: "end", text: "" };
const levels: readonly (readonly string[])[] = [["+", "-"], ["*", "//", "%", "/"]];
const comparisons = ["==", "!=", "<", ">", "<=", ">=", "in", "not", "is"];

/** Parses a program of the subset. @throws SpadeError `internal.python` on anything outside it. */
export function parseProgram(source: string): readonly Stmt[] {
  const parser = new Parser(lex(source));
  const body: Stmt[] = [];
  while (!parser.at("end")) body.push(parser.statement());
  return body;
}

class Parser {
  private readonly tokens: readonly Token[];
  private position = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  private peek(offset = 0): Token {
    return this.tokens[this.position + offset] ?? end;
  }

  at(kind: Token["kind"]): boolean {
    return this.peek().kind === kind;
  }

  private is(...texts: readonly string[]): boolean {
    const token = this.peek();
    return (token.kind === "op" || token.kind === "name") && texts.includes(token.text);
  }

  private take(): Token {
    return this.tokens[this.position++] ?? end;
  }

  private accept(text: string): boolean {
    if (!this.is(text)) return false;
    this.position++;
    return true;
  }

  private expect(text: string): void {
    if (!this.accept(text)) throw new SpadeError("internal.python", `Expected "${text}" but found "${this.peek().text}" at token ${this.position}; the demonstration program is outside the subset.`);
  }

  private skip(kind: Token["kind"]): void {
    if (this.take().kind !== kind) throw new SpadeError("internal.python", `Expected ${kind} at token ${this.position - 1}; the demonstration program is outside the subset.`);
  }

  statement(): Stmt {
    const word = this.peek().kind === "name" ? this.peek().text : "";
    switch (word) {
      case "class":
        return this.classStatement();
      case "def":
        return this.defStatement();
      case "if":
        return this.ifStatement();
      case "for":
        return this.forStatement();
      case "while":
        this.take();
        return { kind: "while", test: this.expression(), body: this.block() };
      case "try":
        return this.tryStatement();
      default: {
        const statement = this.simple(word);
        this.skip("newline");
        return statement;
      }
    }
  }

  private block(): Stmt[] {
    this.expect(":");
    if (!this.at("newline")) {
      const statement = this.simple(this.peek().text);
      this.skip("newline");
      return [statement];
    }
    this.skip("newline");
    this.skip("indent");
    const body: Stmt[] = [];
    while (!this.at("dedent")) body.push(this.statement());
    this.skip("dedent");
    return body;
  }

  private simple(word: string): Stmt {
    if (word === "pass" || word === "break" || word === "continue") {
      this.take();
      return { kind: word };
    }
    if (word === "return") {
      this.take();
      return { kind: "return", value: this.at("newline") ? undefined : this.tupleExpression() };
    }
    const first = this.tupleExpression();
    const operator = this.peek();
    if (operator.kind === "op" && ["+=", "-=", "*=", "%="].includes(operator.text)) {
      this.take();
      return { kind: "augment", target: first, op: operator.text.slice(0, -1), value: this.tupleExpression() };
    }
    const chain = [first];
    while (this.accept("=")) chain.push(this.tupleExpression());
    const value = chain.pop() ?? first;
    return chain.length === 0 ? { kind: "expression", value } : { kind: "assign", targets: chain, value };
  }

  private classStatement(): Stmt {
    this.take();
    const name = this.take().text;
    return { kind: "class", name, bases: this.parameters(), body: this.block() };
  }

  private defStatement(): Stmt {
    this.take();
    const name = this.take().text;
    return { kind: "def", name, parameters: this.parameters(), body: this.block() };
  }

  private parameters(): string[] {
    const names: string[] = [];
    this.expect("(");
    while (!this.accept(")")) {
      names.push(this.take().text);
      if (this.accept("=")) this.expression();
      this.accept(",");
    }
    return names;
  }

  private ifStatement(): Stmt {
    this.take();
    const test = this.expression();
    const body = this.block();
    if (this.is("elif")) return { kind: "if", test, body, orelse: [this.ifStatement()] };
    return { kind: "if", test, body, orelse: this.accept("else") ? this.block() : [] };
  }

  private forStatement(): Stmt {
    this.take();
    const target = this.targets();
    this.expect("in");
    return { kind: "for", target, iterable: this.expression(), body: this.block() };
  }

  private tryStatement(): Stmt {
    this.take();
    const body = this.block();
    this.expect("except");
    if (!this.is(":")) this.take();
    return { kind: "try", body, handler: this.block() };
  }

  private targets(): Expr {
    const items: Expr[] = [this.postfix()];
    while (this.accept(",")) items.push(this.postfix());
    const [only] = items;
    return items.length === 1 && only !== undefined ? only : { kind: "tuple", items };
  }

  private tupleExpression(): Expr {
    const first = this.expression();
    if (!this.is(",")) return first;
    const items = [first];
    while (this.accept(",")) if (!this.at("newline") && !this.is("=", ")")) items.push(this.expression());
    return { kind: "tuple", items };
  }

  expression(): Expr {
    if (this.accept("lambda")) {
      const parameters: string[] = [];
      while (!this.accept(":")) {
        parameters.push(this.take().text);
        this.accept(",");
      }
      return { kind: "lambda", parameters, body: this.expression() };
    }
    const yes = this.disjunction();
    if (!this.accept("if")) return yes;
    const test = this.disjunction();
    this.expect("else");
    return { kind: "conditional", test, yes, no: this.expression() };
  }

  private disjunction(): Expr {
    let left = this.conjunction();
    while (this.accept("or")) left = { kind: "logic", op: "or", left, right: this.conjunction() };
    return left;
  }

  private conjunction(): Expr {
    let left = this.negation();
    while (this.accept("and")) left = { kind: "logic", op: "and", left, right: this.negation() };
    return left;
  }

  private negation(): Expr {
    return this.accept("not") ? { kind: "unary", op: "not", operand: this.negation() } : this.comparison();
  }

  private comparison(): Expr {
    const first = this.arithmetic(0);
    const rest: (readonly [string, Expr])[] = [];
    while (this.is(...comparisons)) {
      let op = this.take().text;
      if (op === "not") op = `not ${this.take().text}`;
      rest.push([op, this.arithmetic(0)]);
    }
    return rest.length === 0 ? first : { kind: "compare", first, rest };
  }

  private arithmetic(level: number): Expr {
    const operators = levels[level];
    if (operators === undefined) return this.unary();
    let left = this.arithmetic(level + 1);
    while (this.is(...operators)) left = { kind: "binary", op: this.take().text, left, right: this.arithmetic(level + 1) };
    return left;
  }

  private unary(): Expr {
    if (this.accept("-")) return { kind: "unary", op: "-", operand: this.unary() };
    const base = this.postfix();
    return this.accept("**") ? { kind: "binary", op: "**", left: base, right: this.unary() } : base;
  }

  private postfix(): Expr {
    let value = this.atom();
    for (;;) {
      if (this.accept(".")) value = { kind: "attribute", object: value, name: this.take().text };
      else if (this.accept("(")) value = this.call(value);
      else if (this.accept("[")) value = this.subscript(value);
      else return value;
    }
  }

  private call(callee: Expr): Expr {
    const args: Expr[] = [];
    const keywords = new Map<string, Expr>();
    while (!this.accept(")")) {
      if (this.peek(1).text === "=" && this.peek(1).kind === "op") {
        const name = this.take().text;
        this.take();
        keywords.set(name, this.expression());
      } else {
        const value = this.expression();
        args.push(this.is("for") ? { kind: "comprehension", element: value, loops: this.loops() } : value);
      }
      this.accept(",");
    }
    return { kind: "call", callee, args, keywords };
  }

  private subscript(object: Expr): Expr {
    const from = this.is(":") ? undefined : this.expression();
    if (this.accept("]")) return { kind: "index", object, index: from ?? { kind: "constant", value: 0 } };
    this.expect(":");
    const to = this.is(":", "]") ? undefined : this.expression();
    const by = this.accept(":") && !this.is("]") ? this.expression() : undefined;
    this.expect("]");
    return { kind: "slice", object, from, to, by };
  }

  private loops(): Loop[] {
    const loops: Loop[] = [];
    while (this.accept("for")) {
      const target = this.targets();
      this.expect("in");
      const iterable = this.disjunction();
      const conditions: Expr[] = [];
      while (this.accept("if")) conditions.push(this.disjunction());
      loops.push({ target, iterable, conditions });
    }
    return loops;
  }

  private atom(): Expr {
    const token = this.take();
    if (token.kind === "number") return { kind: "constant", value: Number(token.text) };
    if (token.kind === "string") return { kind: "constant", value: token.text };
    if (token.kind === "fstring") return formatted(token.text);
    if (token.kind === "name") return constants.get(token.text) ?? { kind: "name", id: token.text };
    if (token.text === "(") return this.group();
    if (token.text === "[") return this.list();
    if (token.text === "{") return this.dict();
    throw new SpadeError("internal.python", `Unexpected "${token.text}" in a demonstration program; it is outside the subset.`);
  }

  private group(): Expr {
    if (this.accept(")")) return { kind: "tuple", items: [] };
    const value = this.tupleExpression();
    const item: Expr = this.is("for") ? { kind: "comprehension", element: value, loops: this.loops() } : value;
    this.expect(")");
    return item;
  }

  private list(): Expr {
    const items: Expr[] = [];
    while (!this.accept("]")) {
      items.push(this.expression());
      const [element] = items;
      if (this.is("for") && element !== undefined) {
        const loops = this.loops();
        this.expect("]");
        return { kind: "comprehension", element, loops };
      }
      this.accept(",");
    }
    return { kind: "list", items };
  }

  private dict(): Expr {
    const entries: (readonly [Expr, Expr])[] = [];
    while (!this.accept("}")) {
      const key = this.expression();
      this.expect(":");
      const value = this.expression();
      if (this.is("for")) {
        const loops = this.loops();
        this.expect("}");
        return { kind: "comprehension", element: key, value, loops };
      }
      entries.push([key, value]);
      this.accept(",");
    }
    return { kind: "dict", entries };
  }
}

const constants: ReadonlyMap<string, Expr> = new Map<string, Expr>([
  ["True", { kind: "constant", value: true }],
  ["False", { kind: "constant", value: false }],
  ["None", { kind: "constant", value: null }],
]);

function formatted(text: string): Expr {
  const parts = text.split(/\{([^}]*)\}/).map((part, i) => (i % 2 === 0 ? part : new Parser(lexLine(part)).expression()));
  return { kind: "format", parts: parts.filter((part) => part !== "") };
}
