/**
 * The first key that an object of a JSON text has twice, or null. `JSON.parse` keeps the last one silently.
 * @param text valid JSON: it has been parsed before
 */
export const duplicateKey = (text: string): string | null => {
  const objects: Set<string>[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at];
    if (character === '{') objects.push(new Set());
    else if (character === '[') objects.push(NO_KEYS);
    else if (character === '}' || character === ']') objects.pop();
    else if (character === '"') {
      const end = endOfString(text, at);
      const keys = objects.at(-1);
      if (keys !== undefined && keys !== NO_KEYS && isKey(text, end)) {
        const key = JSON.parse(text.slice(at, end)) as string;
        if (keys.has(key)) return key;
        keys.add(key);
      }
      at = end;
      continue;
    }
    at++;
  }
  return null;
};

/** Stands for an array, which has no keys. */
const NO_KEYS = new Set<string>();

/** Index after the closing quote of the string that opens at `start`. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
};

/** Whether a colon follows, after white space. */
const isKey = (text: string, end: number): boolean => {
  let at = end;
  while (' \t\n\r'.includes(text[at] ?? ':') && at < text.length) at++;
  return text[at] === ':';
};
