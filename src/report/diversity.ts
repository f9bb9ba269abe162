/** Sparse TF-IDF vector, unit length. */
type SparseVector = ReadonlyMap<string, number>;

/** Words, numbers and punctuation marks of a text, lower case. */
function terms(text: string): string[] {
  return text.toLowerCase().match(/[a-z_]+|\d+|[^\sa-z\d]/g) ?? [];
}

/** TF-IDF vectors of a set of texts: raw counts times log((1 + n) / (1 + df)) + 1, normalised. */
function tfidf(texts: readonly string[]): SparseVector[] {
  const counts = texts.map((text) => {
    const count = new Map<string, number>();
    for (const term of terms(text)) count.set(term, (count.get(term) ?? 0) + 1);
    return count;
  });
  const documentFrequency = new Map<string, number>();
  for (const count of counts) for (const term of count.keys()) documentFrequency.set(term, (documentFrequency.get(term) ?? 0) + 1);
  return counts.map((count) => {
    const weighted = [...count].map(([term, n]) => [term, n * (Math.log((1 + texts.length) / (1 + (documentFrequency.get(term) ?? 0))) + 1)] as const);
    const norm = Math.hypot(...weighted.map(([, weight]) => weight)) || 1;
    return new Map(weighted.map(([term, weight]) => [term, weight / norm]));
  });
}

function dot(a: SparseVector, b: SparseVector): number {
  let sum = 0;
  for (const [term, weight] of a) sum += weight * (b.get(term) ?? 0);
  return sum;
}

/** Eigenvalues of a symmetric matrix [N, N] by cyclic Jacobi rotations. Does not change its input. */
export function symmetricEigenvalues(matrixNN: readonly (readonly number[])[]): number[] {
  const a = matrixNN.map((row) => Float64Array.from(row));
  const n = a.length;
  for (let sweep = 0; sweep < 60 && offDiagonal(a) > 1e-18; sweep++) {
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(a, p, q);
  }
  return a.map((row, i) => row[i] ?? 0);
}

function offDiagonal(a: readonly Float64Array[]): number {
  let sum = 0;
  for (const [i, row] of a.entries()) for (const [j, value] of row.entries()) if (i !== j) sum += value * value;
  return sum;
}

function rotate(a: readonly Float64Array[], p: number, q: number): void {
  const [rowP, rowQ] = [a[p], a[q]];
  const apq = rowP?.[q] ?? 0;
  if (rowP === undefined || rowQ === undefined || apq === 0) return;
  const theta = ((rowQ[q] ?? 0) - (rowP[p] ?? 0)) / (2 * apq);
  const t = (theta >= 0 ? 1 : -1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (const row of a) {
    const [x, y] = [row[p] ?? 0, row[q] ?? 0];
    row[p] = c * x - s * y;
    row[q] = s * x + c * y;
  }
  for (let k = 0; k < rowP.length; k++) {
    const [x, y] = [rowP[k] ?? 0, rowQ[k] ?? 0];
    rowP[k] = c * x - s * y;
    rowQ[k] = s * x + c * y;
  }
}

export interface Diversity {
  /** Vendi score: effective number of different texts, in [1, n]. */
  readonly vendi: number;
  /** Mean cosine distance over pairs, in [0, 1]. Absent for fewer than two texts. */
  readonly meanPairwiseDistance?: number;
}

/**
 * Diversity of a set of texts under cosine similarity of TF-IDF vectors: the exponential of the entropy of the
 * eigenvalues of K/n (Vendi score, 2210.02410). Absent for an empty set.
 */
export function diversity(texts: readonly string[]): Diversity | undefined {
  if (texts.length === 0) return undefined;
  const vectors = tfidf(texts);
  const kernel = vectors.map((a) => vectors.map((b) => dot(a, b) / texts.length));
  const entropy = symmetricEigenvalues(kernel).reduce((sum, value) => (value > 1e-12 ? sum - value * Math.log(value) : sum), 0);
  const vendi = Math.exp(entropy);
  const pairs = (texts.length * (texts.length - 1)) / 2;
  if (pairs === 0) return { vendi };
  let distance = 0;
  for (const [i, a] of vectors.entries()) for (const b of vectors.slice(i + 1)) distance += 1 - dot(a, b);
  return { vendi, meanPairwiseDistance: distance / pairs };
}
