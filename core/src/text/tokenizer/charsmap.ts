/**
 * Checks a SentencePiece normalisation table (`precompiled_charsmap`, base64), which the tokenizers library reads without
 * looking: a little-endian u32 length in bytes, a double-array trie of u32 units of that length, then the
 * replacements as UTF-8 texts that each end in NUL. Every step that some text could make through the trie must stay
 * inside it, and every replacement must begin inside the texts. Returns what is wrong, or null.
 */
export const charsmapFault = (base64: unknown): string | null => {
  if (typeof base64 !== 'string' || !/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(base64)) {
    return 'is not base64';
  }
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length < 8) return `has ${bytes.length} bytes, too few for a table`;
  const units = Math.floor(bytes.readUInt32LE(0) / 4);
  if (units === 0 || 4 + units * 4 > bytes.length) return `declares a trie of ${units} units, more than it holds`;
  const texts = bytes.subarray(4 + units * 4);
  try {
    STRICT.decode(texts);
  } catch {
    return 'has replacements that are not UTF-8'; // the decoder says no more than that
  }
  const trie = Uint32Array.from({ length: units }, (_, index) => bytes.readUInt32LE(4 + index * 4));
  return walk(trie, texts);
};

const STRICT = new TextDecoder('utf-8', { fatal: true });

/** A unit's offset to the units of its children. */
const offset = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6);

/** The bytes that can follow in a text; NUL ends the search. */
const BYTES = Array.from({ length: 0xf4 }, (_, index) => index + 1);

const walk = (trie: Uint32Array, texts: Uint8Array): string | null => {
  const seen = new Uint8Array(trie.length);
  const open = [offset(trie[0]!)];
  for (let base = open.pop(); base !== undefined; base = open.pop()) {
    for (const byte of BYTES) {
      const at = (base ^ byte) >>> 0;
      if (at >= trie.length) return 'has a trie that leads out of itself';
      const unit = trie[at]!;
      if ((unit & 0x8000_00ff) >>> 0 !== byte || seen[at] === 1) continue;
      seen[at] = 1;
      const next = (at ^ offset(unit)) >>> 0;
      if ((unit & 0x100) !== 0 && !startsText(trie[next], texts)) return 'has a replacement outside its texts';
      open.push(next);
    }
  }
  return null;
};

/** Whether a leaf's value is where a text may begin: inside, and not in the middle of a character. */
const startsText = (leaf: number | undefined, texts: Uint8Array): boolean => {
  if (leaf === undefined) return false;
  const start = leaf & 0x7fff_ffff;
  if (start >= texts.length) return start === texts.length;
  return (texts[start]! & 0xc0) !== 0x80;
};
