/**
 * The value at fraction `f` of sorted values: position f (n - 1), linear between neighbours. `f` = 0.5 is the median.
 * null of no values.
 */
export const percentile = (sorted: Float64Array, f: number): number | null => {
  if (sorted.length === 0) return null;
  const position = f * (sorted.length - 1);
  const below = Math.floor(position);
  const low = sorted[below]!;
  const high = sorted[Math.min(below + 1, sorted.length - 1)]!;
  return low === high ? low : low + (position - below) * (high - low);
};
