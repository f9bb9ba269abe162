"""Answer checking for environment programs: `same` for plain answers, `parse` and `verify` for LaTeX ones.

Nothing here evaluates an expression of unbounded size: powers beyond a small bound do not parse.
"""
import re
from fractions import Fraction
from math import isqrt
from zlib import crc32

_DECIMAL = re.compile(r"[+-]?(\d{1,400}(\.\d{0,400})?|\.\d{1,400})(e[+-]?\d{1,2})?", re.IGNORECASE | re.ASCII)
_MAX_EXPONENT = 64
_MAX_BASE = 10**12
_MAX_TEXT = 2000
_BOX = re.compile(r"\\boxed\s*\{")


def boxed(text):
    """Content of the last complete \\boxed{...}, or None; escaped braces do not count."""
    closing, opened, at = {}, [], 0
    while at < len(text):
        if text[at] == "\\":
            at += 1
        elif text[at] == "{":
            opened.append(at)
        elif text[at] == "}" and opened:
            closing[opened.pop()] = at
        at += 1
    found, last = None, -1
    for match in _BOX.finditer(text):
        end = closing.get(match.end() - 1, -1)
        if end > last:
            found, last = text[match.end() : end], end
    return found


def _number(value):
    """The exact value of a number or of a decimal literal, else None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, Fraction)):
        return Fraction(value)
    if isinstance(value, float):
        value = repr(value)
    if isinstance(value, str):
        value = value.strip()
        if _DECIMAL.fullmatch(value):
            return Fraction(value)
    return None


def _words(value):
    if isinstance(value, (list, tuple)):
        return list(value)
    text = str(value).strip()
    if len(text) > 1 and text[0] + text[-1] in ("[]", "()", "{}"):
        text = text[1:-1]
    return [word for word in (text.split(",") if "," in text else text.split()) if word.strip()]


def same(a, b):
    """Whether two plain answers agree: case, spacing and the spelling of numbers do not count."""
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        left, right = _words(a), _words(b)
        return len(left) == len(right) and all(same(x, y) for x, y in zip(left, right))
    x, y = _number(a), _number(b)
    if x is not None and y is not None:
        if isinstance(a, float) or isinstance(b, float):
            return abs(x - y) <= Fraction(1, 10**9) * max(1, abs(x), abs(y))
        return x == y
    return " ".join(str(a).casefold().split()) == " ".join(str(b).casefold().split())


class _Unparsable(Exception):
    pass


class _Reader:
    """Recursive descent over a cleaned LaTeX answer; values are Fractions, ("tuple", ...) and ("set", ...).

    Variables have the values that `point` gives them; without a point there are none.
    """

    def __init__(self, text, point=None):
        self.text = text
        self.point = point
        self.at = 0
        self.depth = 0

    def peek(self, token):
        return self.text.startswith(token, self.at)

    def take(self, token):
        if not self.peek(token):
            return False
        self.at += len(token)
        return True

    def expect(self, token):
        if not self.take(token):
            raise _Unparsable

    def whole(self):
        value = self.items(None)
        if self.at != len(self.text):
            raise _Unparsable
        return value[0] if len(value) == 1 else ("tuple", *value)

    def items(self, closing):
        values = []
        while closing is None or not any(self.peek(mark) for mark in closing):
            values.append(self.sum())
            if not self.take(","):
                break
        return values

    def sum(self):
        self.depth += 1
        if self.depth > 40:
            raise _Unparsable
        value = self.product()
        while self.peek("+") or self.peek("-"):
            sign = 1 if self.take("+") else -1
            if sign < 0:
                self.take("-")
            value = _numeric(value) + sign * _numeric(self.product())
        self.depth -= 1
        return value

    def product(self):
        value = self.factor()
        while True:
            if self.take("\\cdot") or self.take("\\times") or self.take("*"):
                value = _bounded(_numeric(value) * _numeric(self.factor()))
            elif self.take("/") or self.take("\\div"):
                value = _divide(_numeric(value), _numeric(self.factor()))
            elif self.peek("\\frac") and self.point is None:
                value = _numeric(value) + _numeric(self.factor()) if value == int(_numeric(value)) else _fail()
            elif self.peek("(") or self.point is not None and _FACTOR.match(self.text, self.at):
                value = _bounded(_numeric(value) * _numeric(self.factor()))
            else:
                return value

    def factor(self):
        if self.take("-"):
            return -_numeric(self.factor())
        if self.take("+"):
            return _numeric(self.factor())
        value = self.atom()
        if self.take("^"):
            value = _power(_numeric(value), _numeric(self.argument()))
        return value

    def argument(self):
        """One LaTeX argument: a brace group or a single digit."""
        if self.take("{"):
            value = self.sum()
            self.expect("}")
            return value
        if self.at < len(self.text) and self.text[self.at] in "0123456789":
            self.at += 1
            return Fraction(int(self.text[self.at - 1]))
        if self.take("-"):
            return -self.argument()
        letter = _VARIABLE.match(self.text, self.at) if self.point is not None else None
        if letter is None:
            raise _Unparsable
        self.at = letter.end()
        return self.point(letter.group())

    def atom(self):
        if self.take("\\frac"):
            above = _numeric(self.argument())
            return _divide(above, _numeric(self.argument()))
        if self.take("\\sqrt"):
            return _root(_numeric(self.argument()))
        if self.take("\\{"):
            values = self.items(("\\}",))
            self.expect("\\}")
            return ("set", frozenset(values))
        if self.take("("):
            values = self.items((")",))
            self.expect(")")
            return values[0] if len(values) == 1 else ("tuple", *values)
        if self.take("{"):
            values = self.items(("}",))
            self.expect("}")
            return values[0] if len(values) == 1 else ("set", frozenset(values))
        if self.take("["):
            values = self.items(("]",))
            self.expect("]")
            return ("tuple", *values)
        if self.point is not None:
            letter = _VARIABLE.match(self.text, self.at)
            if letter is not None:
                self.at = letter.end()
                return self.point(letter.group())
        match = _PLAIN.match(self.text, self.at)
        if match is None:
            raise _Unparsable
        self.at = match.end()
        return Fraction(match.group())


_FACTOR = re.compile(r"[a-z]|\\(?:frac|sqrt|pi|alpha|beta|theta|lambda)(?![a-z])")
_VARIABLE = re.compile(r"\\(?:pi|alpha|beta|theta|lambda)(?![a-z])|[a-z]")
_ALGEBRA = re.compile(r"[\d+\-*/^,]|\\(?:frac|cdot|times|pi)")
_POINTS = 3


def _point(index):
    """Fixed values of all variables: rational, distinct, away from the roots of small polynomials."""
    return lambda name: Fraction(crc32(f"{index} {name}".encode()) % 9973 + 11, 7 + 2 * index)


def _expression(text):
    """An expression in variables as its values at fixed points: equal values mean equal expressions. None when it is not one.

    Words are no products of letters: three letters in a row, or letters alone, are text.
    """
    bare = re.sub(r"\\[a-z]+", " ", text)
    if re.search(r"[a-z]{3}", bare) or not _ALGEBRA.search(text) or not _VARIABLE.search(text):
        return None
    values = tuple(_Reader(text, _point(index)).whole() for index in range(_POINTS))
    return values[0] if len(set(values)) == 1 else ("expression", *values)


_PLAIN = re.compile(r"\d{1,400}(\.\d{1,400})?|\.\d{1,400}", re.ASCII)


def _fail():
    raise _Unparsable


def _numeric(value):
    return value if isinstance(value, Fraction) else _fail()


def _bounded(value):
    return value if value.numerator.bit_length() < 4000 and value.denominator.bit_length() < 4000 else _fail()


def _divide(a, b):
    return _bounded(a / b) if b != 0 else _fail()


def _power(base, exponent):
    if exponent.denominator != 1 or abs(exponent) > _MAX_EXPONENT or (base == 0 and exponent < 0):
        raise _Unparsable
    if abs(base.numerator) > _MAX_BASE or base.denominator > _MAX_BASE:
        raise _Unparsable
    return base ** int(exponent)


def _root(value):
    if value < 0:
        raise _Unparsable
    above, below = isqrt(value.numerator), isqrt(value.denominator)
    if above * above != value.numerator or below * below != value.denominator:
        raise _Unparsable
    return Fraction(above, below)


def _clean(text):
    inner = boxed(text)
    text = inner if inner is not None else text
    if text.count("{") != text.count("}"):
        raise _Unparsable
    text = re.sub(r"\\(?:text|mathrm|mathbf|textbf|operatorname)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\[dtc]frac", r"\\frac", text)
    text = re.sub(r"\\(?:left|right|displaystyle|,|;|!|:|quad)(?![a-zA-Z])", "", text)
    text = text.replace("{,}", "").replace("$", "").replace("^\\circ", "").replace("\\ ", "")
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text) if re.fullmatch(r"\s*-?\d{1,3}(,\d{3})+(\.\d+)?\s*", text) else text
    text = re.sub(r"^\s*[A-Za-z]\s*=(?!=)", "", text)
    text = text.replace("**", "^").replace("\\lbrace", "\\{").replace("\\rbrace", "\\}").replace("\u2212", "-").replace("\u03c0", "\\pi ").replace("^\\prime", "")
    return "".join(text.split()).rstrip(".").casefold()


def parse(text, *_arguments, **_options):
    """Answers found in a text as a list; empty when it is malformed. Under math_verify's name."""
    if isinstance(text, bool) or text is None:
        return []
    if isinstance(text, (int, float, Fraction)):
        number = _number(text)
        return [] if number is None else [number]
    text = str(text)
    if len(text) > _MAX_TEXT:
        return []
    try:
        text = _clean(text)
    except _Unparsable:
        return []
    if not text:
        return []
    percent = re.fullmatch(r"(.+?)\\?%", text)
    text = percent.group(1) if percent else text
    value = _value(text)
    return [value, value / 100] if percent and isinstance(value, Fraction) else [value]


def _value(text):
    """What a cleaned answer means: a number, a tuple, a set, an expression; the text itself when it is none of them."""
    number = _number(text)
    if number is not None:
        return number
    for read in (lambda: _Reader(text).whole(), lambda: _expression(text)):
        try:
            value = read()
        except (_Unparsable, ValueError, RecursionError, OverflowError):
            continue
        if value is not None:
            return value
    return text


def verify(gold, answer, *_arguments, **_options):
    """Whether an answer equals the gold one, both as `parse` returns them or as text. `50\\%` equals 50 and 0.5. Under math_verify's name."""
    left = gold if isinstance(gold, list) else parse(gold)
    right = answer if isinstance(answer, list) else parse(answer)
    return bool(left) and any(x == y for x in left for y in right)
