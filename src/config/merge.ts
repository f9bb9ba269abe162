/**
 * Lays `over` onto `base` without changing either: objects merge key by key, anything else replaces. Two variants with a different
 * `kind` do not merge, since their fields belong to different unions.
 */
export function mergeInputs(base: unknown, over: unknown): unknown {
  if (over === undefined) return base;
  if (!isRecord(base) || !isRecord(over)) return over;
  if ("kind" in over && "kind" in base && over["kind"] !== base["kind"]) return over;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(over)) {
    Object.defineProperty(merged, key, { value: mergeInputs(Object.hasOwn(base, key) ? base[key] : undefined, value), enumerable: true, writable: true, configurable: true });
  }
  return merged;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
