/** Exact arithmetic of bounded size for answer checking. */

/** A fraction in lowest terms; `d` is positive. */
export interface Rational {
  readonly n: bigint;
  readonly d: bigint;
}

/** An answer that does not parse, or is larger than it may be. */
export class Unparsable extends Error {}

const maxExponent = 64n;
const maxBase = 10n ** 12n;
const bound = 1n << 3999n;
const decimal = /^([+-]?)(?:(\d{1,400})(?:\.(\d{0,400}))?|\.(\d{1,400}))(?:e([+-]?\d{1,2}))?$/i;

export function rational(n: bigint, d = 1n): Rational {
  const divisor = gcd(n < 0n ? -n : n, d < 0n ? -d : d) * (d < 0n ? -1n : 1n);
  return { n: n / divisor, d: d / divisor };
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? 1n : a;
}

/** The exact value of a decimal literal. */
export function readDecimal(text: string): Rational | undefined {
  const match = decimal.exec(text.trim());
  if (match === null) return undefined;
  const [, sign, whole = "", after, only, exponent = "0"] = match;
  const part = after ?? only ?? "";
  const digits = BigInt(`${whole}${part}`) * (sign === "-" ? -1n : 1n);
  const power = Number(exponent) - part.length;
  return power < 0 ? rational(digits, 10n ** BigInt(-power)) : rational(digits * 10n ** BigInt(power));
}

export function add(a: Rational, b: Rational): Rational {
  return rational(a.n * b.d + b.n * a.d, a.d * b.d);
}

export function negate({ n, d }: Rational): Rational {
  return { n: -n, d };
}

/** @throws Unparsable when the product is too large. */
export function multiply(a: Rational, b: Rational): Rational {
  return bounded(rational(a.n * b.n, a.d * b.d));
}

/** @throws Unparsable by zero, or when the quotient is too large. */
export function divide(a: Rational, b: Rational): Rational {
  if (b.n === 0n) throw new Unparsable();
  return bounded(rational(a.n * b.d, a.d * b.n));
}

/** A whole power. @throws Unparsable for other exponents, and when base or exponent is too large. */
export function power(base: Rational, { n: exponent, d }: Rational): Rational {
  const size = exponent < 0n ? -exponent : exponent;
  if (d !== 1n || size > maxExponent || (base.n === 0n && exponent < 0n)) throw new Unparsable();
  if (base.n > maxBase || -base.n > maxBase || base.d > maxBase) throw new Unparsable();
  return exponent < 0n ? rational(base.d ** size, base.n ** size) : rational(base.n ** size, base.d ** size);
}

/** A square root that comes out even. @throws Unparsable for others. */
export function root({ n, d }: Rational): Rational {
  return rational(exactRoot(n), exactRoot(d));
}

function exactRoot(n: bigint): bigint {
  if (n < 0n) throw new Unparsable();
  let guess = 1n << BigInt(Math.ceil(n.toString(2).length / 2));
  for (let next = (guess + n / guess) / 2n; next < guess; next = (guess + n / guess) / 2n) guess = next;
  if (guess * guess !== n) throw new Unparsable();
  return guess;
}

function bounded(value: Rational): Rational {
  if (value.n >= bound || -value.n >= bound || value.d >= bound) throw new Unparsable();
  return value;
}
