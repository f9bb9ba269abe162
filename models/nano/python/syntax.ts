/** Expressions of the small Python subset in which demonstration programs are written. */
export type Expr =
  | { readonly kind: "constant"; readonly value: number | string | boolean | null }
  | { readonly kind: "format"; readonly parts: readonly (string | Expr)[] }
  | { readonly kind: "name"; readonly id: string }
  | { readonly kind: "attribute"; readonly object: Expr; readonly name: string }
  | { readonly kind: "call"; readonly callee: Expr; readonly args: readonly Expr[]; readonly keywords: ReadonlyMap<string, Expr> }
  | { readonly kind: "index"; readonly object: Expr; readonly index: Expr }
  | { readonly kind: "slice"; readonly object: Expr; readonly from?: Expr | undefined; readonly to?: Expr | undefined; readonly by?: Expr | undefined }
  | { readonly kind: "list" | "tuple"; readonly items: readonly Expr[] }
  | { readonly kind: "dict"; readonly entries: readonly (readonly [Expr, Expr])[] }
  | { readonly kind: "binary"; readonly op: string; readonly left: Expr; readonly right: Expr }
  | { readonly kind: "compare"; readonly first: Expr; readonly rest: readonly (readonly [string, Expr])[] }
  | { readonly kind: "logic"; readonly op: "and" | "or"; readonly left: Expr; readonly right: Expr }
  | { readonly kind: "unary"; readonly op: "not" | "-"; readonly operand: Expr }
  | { readonly kind: "conditional"; readonly test: Expr; readonly yes: Expr; readonly no: Expr }
  | { readonly kind: "comprehension"; readonly element: Expr; readonly value?: Expr | undefined; readonly loops: readonly Loop[] }
  | { readonly kind: "lambda"; readonly parameters: readonly string[]; readonly body: Expr };

export interface Loop {
  readonly target: Expr;
  readonly iterable: Expr;
  readonly conditions: readonly Expr[];
}

export type Stmt =
  | { readonly kind: "expression"; readonly value: Expr }
  | { readonly kind: "assign"; readonly targets: readonly Expr[]; readonly value: Expr }
  | { readonly kind: "augment"; readonly target: Expr; readonly op: string; readonly value: Expr }
  | { readonly kind: "for"; readonly target: Expr; readonly iterable: Expr; readonly body: readonly Stmt[] }
  | { readonly kind: "while"; readonly test: Expr; readonly body: readonly Stmt[] }
  | { readonly kind: "if"; readonly test: Expr; readonly body: readonly Stmt[]; readonly orelse: readonly Stmt[] }
  | { readonly kind: "return"; readonly value?: Expr | undefined }
  | { readonly kind: "def"; readonly name: string; readonly parameters: readonly string[]; readonly body: readonly Stmt[] }
  | { readonly kind: "class"; readonly name: string; readonly bases: readonly string[]; readonly body: readonly Stmt[] }
  | { readonly kind: "try"; readonly body: readonly Stmt[]; readonly handler: readonly Stmt[] }
  | { readonly kind: "pass" | "break" | "continue" };

/** Text of a tree with identifiers renamed and constants replaced by their type: equal for programs of one shape. */
export function skeleton(tree: unknown): string {
  return JSON.stringify(tree, (key, value: unknown) => {
    if (key === "id" || key === "name" || (typeof value === "string" && key === "")) return "_";
    if (key === "value" && (value === null || typeof value !== "object")) return typeof value;
    if (value instanceof Map) return [...(value as Map<string, unknown>).values()];
    if (key === "parts") return (value as unknown[]).map((part) => (typeof part === "string" ? "text" : part));
    if (key === "parameters" || key === "bases") return (value as unknown[]).length;
    return value;
  });
}
