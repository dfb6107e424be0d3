/**
 * Tensor or slot names with their numbers collapsed, in the order of first appearance:
 * `model.layers.0.up.weight`, …, `model.layers.29.up.weight` become `model.layers.{0-29}.up.weight`.
 * Where not every combination of numbers is there, the count follows.
 */
export const collapseNames = (names: readonly string[]): string[] => {
  const families = new Map<string, { numbers: Set<number>[]; count: number }>();
  for (const name of new Set(names)) {
    const key = name.replace(NUMBER, '#');
    const numbers = [...name.matchAll(NUMBER)].map(([digits]) => Number(digits));
    const family = families.get(key) ?? { numbers: numbers.map(() => new Set<number>()), count: 0 };
    numbers.forEach((number, i) => family.numbers[i]?.add(number));
    family.count++;
    families.set(key, family);
  }
  return [...families].map(([key, { numbers, count }]) => {
    let at = 0;
    const name = key.replaceAll('#', () => spellNumbers([...(numbers[at++] ?? [])]));
    const combinations = numbers.reduce((product, set) => product * set.size, 1);
    return combinations === count ? name : `${name} (${count} of them)`;
  });
};

/** A whole component of a dotted name that is a number. */
const NUMBER = /(?<=^|\.)\d+(?=\.|$)/g;

const spellNumbers = (numbers: readonly number[]): string => {
  if (numbers.length === 1) return String(numbers[0]);
  return `{${spellRanges(numbers)}}`;
};

/** `0-3,7,9-10` */
export const spellRanges = (numbers: readonly number[]): string => {
  const ranges: [number, number][] = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
};
