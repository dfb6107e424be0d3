/** Σ a[i] b[i] over n float32 values, summed in float64 in four interleaved sums. */
export const dot = (a: Float32Array, ai: number, b: Float32Array, bi: number, n: number): number => {
  let s0 = 0;
  let s1 = 0;
  let s2 = 0;
  let s3 = 0;
  let i = 0;
  for (; i + 3 < n; i += 4) {
    s0 += a[ai + i]! * b[bi + i]!;
    s1 += a[ai + i + 1]! * b[bi + i + 1]!;
    s2 += a[ai + i + 2]! * b[bi + i + 2]!;
    s3 += a[ai + i + 3]! * b[bi + i + 3]!;
  }
  for (; i < n; i++) s0 += a[ai + i]! * b[bi + i]!;
  return s0 + s1 + (s2 + s3);
};
