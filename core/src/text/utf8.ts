/** U+FFFD, what stands for bytes that are no UTF-8. */
export const REPLACEMENT = '\uFFFD';

/**
 * What bytes are as UTF-8: whole characters; whole characters and then the beginning of one (`partial`); or not UTF-8,
 * whatever follows (`invalid`). By table 3-7 of the Unicode standard: no overlong forms, surrogates, or above U+10FFFF.
 */
export const utf8State = (bytes: readonly number[]): 'complete' | 'partial' | 'invalid' => {
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    if (length === 0) return 'invalid';
    if (at + length > bytes.length) return 'partial';
    at += length;
  }
  return 'complete';
};

/** How many bytes at the end, 0 to 3, begin a character that is not whole yet. */
export const unfinishedTail = (bytes: readonly number[]): number => {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const at = bytes.length - back;
    if (isContinuation(bytes[at]!)) continue;
    return sequenceLength(bytes, at) > back ? back : 0;
  }
  return 0;
};

/** Bytes as text; every stretch that is no UTF-8 becomes U+FFFD, as in the WHATWG decoder and Rust's `from_utf8_lossy`. */
export const lossyText = (bytes: readonly number[]): string => LOSSY.decode(Uint8Array.from(bytes));

/** Lone surrogates become U+FFFD: they have no UTF-8. */
export const wellFormed = (text: string): string => text.replace(/[\uD800-\uDFFF]/gu, REPLACEMENT);

const LOSSY = new TextDecoder('utf-8', { ignoreBOM: true });

const isContinuation = (byte: number): boolean => byte >= 0x80 && byte <= 0xbf;

/** Length of the character that starts at `at`, as its first bytes say; 0 if what is there can be no character. */
const sequenceLength = (bytes: readonly number[], at: number): number => {
  const lead = bytes[at]!;
  if (lead <= 0x7f) return 1;
  const length =
    lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0;
  for (let k = 1; k < length && at + k < bytes.length; k++) {
    const byte = bytes[at + k]!;
    const least = k > 1 ? 0x80 : lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
    const most = k > 1 ? 0xbf : lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
    if (byte < least || byte > most) return 0;
  }
  return length;
};
