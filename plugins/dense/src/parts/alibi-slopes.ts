/**
 * ALiBi slopes, one a head (arXiv:2108.12409). With n a power of two: `s_h = 2^(-8 h / n)`, h = 1 … n.
 * For other head counts the two published rules differ:
 *   `below`  the slopes of the power of two below, then every second one (h = 1, 3, …) of twice that many heads;
 *   `above`  the slopes of the power of two above, those of even h first, then those of odd h, cut to n.
 */
export const alibiSlopes = (heads: number, powers: 'below' | 'above'): Float32Array => {
  const power = 2 ** (powers === 'below' ? Math.floor(Math.log2(heads)) : Math.ceil(Math.log2(heads)));
  if (power === heads) return Float32Array.from(geometric(heads));
  const above = geometric(powers === 'below' ? 2 * power : power);
  const oddHeads = above.filter((_, index) => index % 2 === 0);
  const evenHeads = above.filter((_, index) => index % 2 === 1);
  const slopes = powers === 'below' ? [...geometric(power), ...oddHeads] : [...evenHeads, ...oddHeads];
  return Float32Array.from(slopes.slice(0, heads));
};

const geometric = (count: number): number[] =>
  Array.from({ length: count }, (_, index) => 2 ** ((-8 * (index + 1)) / count));
