/** Keys of dropout rates: inert. */
export const dropout = (...keys: readonly string[]): Record<string, string> =>
  Object.fromEntries(keys.map((key) => [key, 'a dropout rate acts in training only']));
