/**
 * The first key that an object of a JSON text has twice, or null. `JSON.parse` keeps the last one silently.
 * @param text valid JSON: it has been parsed before
 */
export const duplicateKey = (text: string): string | null => {
  const objects: Set<string>[] = [];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === OBJECT) objects.push(new Set());
    else if (code === LIST) objects.push(NO_KEYS);
    else if (code === OBJECT_END || code === LIST_END) objects.pop();
    else if (code === QUOTE) {
      const end = endOfString(text, at);
      const keys = objects.at(-1);
      if (keys !== undefined && keys !== NO_KEYS && isKey(text, end)) {
        const key = keyIn(text, at, end);
        if (keys.has(key)) return key;
        keys.add(key);
      }
      at = end - 1;
    }
  }
  return null;
};

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;
const LIST = 0x5b;
const LIST_END = 0x5d;

/** Stands for an array, which has no keys. */
const NO_KEYS = new Set<string>();

/** Index after the closing quote of the string that opens at `start`. */
const endOfString = (text: string, start: number): number => {
  let at = start + 1;
  for (let code = text.charCodeAt(at); at < text.length && code !== QUOTE; code = text.charCodeAt(at)) {
    at += code === BACKSLASH ? 2 : 1;
  }
  return at + 1;
};

const keyIn = (text: string, start: number, end: number): string => {
  const key = text.slice(start + 1, end - 1);
  return key.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : key;
};

/** Whether a colon follows, after white space. */
const isKey = (text: string, end: number): boolean => {
  let at = end;
  let code = text.charCodeAt(at);
  while (code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d) code = text.charCodeAt(++at);
  return code === COLON;
};
