"""Facts about a program read from its syntax tree."""
import ast
import builtins
from hashlib import sha256
from zlib import crc32

_KEPT = frozenset(
    ["self", "reset", "step", "solution", "hint", "close", "get_tools", "__init__", "max_turns", "seed", "action"]
    + ["TextGame", "ToolUseBaseEnv", "same", "parse", "verify"]
    + dir(builtins)
)
_MIN_SHINGLE_NODES = 4


def _without_docstrings(tree):
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and body:
            first = body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
                node.body = body[1:] or [ast.Pass()]
    return tree


def _own_names(tree):
    """Identifiers the program itself introduces, in order of appearance."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found = node.name
        elif isinstance(node, ast.arg):
            found = node.arg
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found = node.id
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            found = node.attr
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found = node.name
        elif isinstance(node, ast.alias):
            continue
        else:
            continue
        if found not in _KEPT:
            names.setdefault(found, f"v{len(names)}")
    return names


def _shape(node, names, shingles):
    """Text of a normalised subtree and its number of nodes; adds the hashes of subtrees to `shingles`."""
    if isinstance(node, ast.Constant):
        return f"<{type(node.value).__name__}>", "", 1
    parts, plain, size = [type(node).__name__], [type(node).__name__], 1
    for field, value in ast.iter_fields(node):
        if field in ("ctx", "type_comment", "kind", "type_ignores"):
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, ast.AST):
                exact, loose, nodes = _shape(item, names, shingles)
                size += nodes
            elif isinstance(item, str):
                exact = names.get(item, item)
                loose = "v" if item in names else item
            else:
                exact = loose = "" if item is None else "_"
            parts.append(exact)
            plain.append(loose)
    loose = "(" + " ".join(plain) + ")"
    if len(loose) > 40:
        loose = f"#{crc32(loose.encode()):x}"
    if size >= _MIN_SHINGLE_NODES:
        shingles.add(crc32(loose.encode()))
    return "(" + " ".join(parts) + ")", loose, size


def analyse(tree):
    """Skeleton digest, shingles, strings and number of state variables of a parsed program. Changes the tree."""
    tree = _without_docstrings(tree)
    names = _own_names(tree)
    shingles = set()
    exact, _, _ = _shape(tree, names, shingles)
    strings, state = {}, set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings[node.value] = None
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                state.add(node.attr)
    return {
        "skeleton": sha256(exact.encode("utf-8", "replace")).hexdigest()[:32],
        "shingles": sorted(shingles),
        "strings": list(strings),
        "stateVariables": len(state),
    }


def constructions(tree):
    """For each top-level class, the names it calls: what it may construct."""
    calls = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            called = calls.setdefault(node.name, set())
            for inner in ast.walk(node):
                if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
                    called.add(inner.func.id)
    return calls
