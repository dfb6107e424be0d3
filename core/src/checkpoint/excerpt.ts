const MOST_CHARACTERS = 80;
const MOST_ELEMENTS = 40;

/** A value of a file as a message shows it. Files can be hostile: neither length nor depth of the value matters. */
export const excerpt = (value: unknown): string => {
  const text = Array.isArray(value) ? `[${value.slice(0, MOST_ELEMENTS).map(flat).join(',')}]` : flat(value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
};

const flat = (value: unknown): string => {
  if (Array.isArray(value)) return '[…]';
  if (typeof value === 'object' && value !== null) return '{…}';
  return JSON.stringify(value) ?? String(value);
};
