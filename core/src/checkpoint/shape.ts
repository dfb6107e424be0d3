/** Elements of a tensor of this shape; 1 for a scalar. Beyond 2^53 the result is not exact. */
export const elementCount = (shape: readonly number[]): number =>
  shape.includes(0) ? 0 : shape.reduce((product, length) => product * length, 1);

export const sameShape = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((length, axis) => length === b[axis]);
