import { invariant } from "../core/errors.ts";

/** Arithmetic mean of a non-empty list. */
export function mean(values: readonly number[]): number {
  invariant(values.length > 0, "a mean has at least one value");
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Sum of squared deviations from the mean. */
export function squaredDeviations(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0);
}

/** Population standard deviation (divisor n). */
export function populationDeviation(values: readonly number[]): number {
  return Math.sqrt(squaredDeviations(values) / values.length);
}

/** Standard error of the mean, from the sample variance (divisor n - 1). Needs at least two values. */
export function standardErrorOfMean(values: readonly number[]): number {
  invariant(values.length > 1, "a standard error has at least two values");
  return Math.sqrt(squaredDeviations(values) / (values.length - 1) / values.length);
}

/** `value` limited to [low, high]. */
export function clip(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

/**
 * Two-sided quantile of Student's t: the t with P(|T| <= t) = `confidence`, for a whole number of degrees of freedom.
 * Source: finite series of Abramowitz and Stegun 26.7.3-4, inverted by bisection.
 */
export function studentQuantile(confidence: number, degreesOfFreedom: number): number {
  invariant(Number.isInteger(degreesOfFreedom) && degreesOfFreedom > 0, "degrees of freedom are a positive integer");
  invariant(confidence > 0 && confidence < 1, "a confidence lies strictly between 0 and 1");
  let low = 0;
  let high = Math.PI / 2;
  for (let i = 0; i < 80; i++) {
    const middle = (low + high) / 2;
    if (centralProbability(middle, degreesOfFreedom) < confidence) low = middle;
    else high = middle;
  }
  return Math.tan(low) * Math.sqrt(degreesOfFreedom);
}

/** P(|T| <= tan(angle) * sqrt(df)). */
function centralProbability(angle: number, degreesOfFreedom: number): number {
  const cosine = Math.cos(angle);
  const odd = degreesOfFreedom % 2 === 1;
  let term = odd ? cosine : 1;
  let sum = 0;
  for (let i = odd ? 1 : 0; i <= degreesOfFreedom - 2; i += 2) {
    sum += term;
    term *= ((i + 1) / (i + 2)) * cosine * cosine;
  }
  return odd ? (2 / Math.PI) * (angle + Math.sin(angle) * sum) : Math.sin(angle) * sum;
}

/** Two-sided 95 % quantile of the normal distribution. */
const z95 = 1.959963984540054;

/** The 95 % Wilson score interval (Wilson 1927) of a proportion of `count` among `n`, at least 1. */
export function wilson(count: number, n: number): readonly [low: number, high: number] {
  const p = count / n;
  const z2 = z95 * z95;
  const centre = (p + z2 / (2 * n)) / (1 + z2 / n);
  const half = (z95 / (1 + z2 / n)) * Math.sqrt((p * (1 - p)) / n + z2 / (4 * n * n));
  return [count === 0 ? 0 : centre - half, count === n ? 1 : centre + half];
}
