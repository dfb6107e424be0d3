/** A text that is encoded, and where its tokens come from. */
export interface EncodedPiece {
  readonly ids: readonly number[];
  /** Characters `[start, end)` of a token, in code points; null: it comes from none. */
  place(token: number): readonly [number, number] | null;
}

/** Code units of a piece, and of what it shares with each neighbour on either side of the border between them. */
const PIECE = 2 ** 15;
const MARGIN = 2 ** 11;

/** Tokens that both pieces must have alike around a border. */
const LEAST_ALIKE = 16;

export const isLong = (text: string): boolean => text.length > 2 * PIECE;

/**
 * Ids of a long text, encoded in pieces: the library holds hundreds of bytes for each token of what it encodes at once.
 * Pieces overlap. Where two of them have the same tokens at the same places on both sides of their border, what is beyond
 * does not reach it, and the ids are those of the whole. null where two pieces disagree: then only the whole will do.
 */
export const encodePieces = async (
  text: string,
  encode: (piece: string) => Promise<EncodedPiece>,
): Promise<number[] | null> => {
  const ids: number[] = [];
  let before: Piece | null = null;
  /** Tokens of `before` that an earlier joint has left out. */
  let left = 0;
  for (let border = 0; border < text.length; border += PIECE) {
    const start = whole(text, Math.max(0, border - MARGIN));
    const end = whole(text, Math.min(text.length, border + PIECE + MARGIN));
    const from: number = before === null ? 0 : before.start;
    const characters: number = (before?.characters ?? 0) + codePoints(text.slice(from, start));
    const piece: Piece = { start, characters, encoded: await encode(text.slice(start, end)) };
    if (before !== null) {
      const joint = jointOf(before, piece, characters + codePoints(text.slice(start, whole(text, border))));
      if (joint === null) return null;
      for (let token = left; token < joint.before; token++) ids.push(before.encoded.ids[token]!);
      left = joint.after;
    }
    before = piece;
  }
  for (const id of before?.encoded.ids.slice(left) ?? []) ids.push(id);
  return ids;
};

interface Piece {
  /** Code unit of the text where it begins. */
  readonly start: number;
  /** Code points before it. */
  readonly characters: number;
  readonly encoded: EncodedPiece;
}

/**
 * Where two overlapping pieces are joined: tokens of the first that are kept, and of the second that are left out. All
 * tokens within half a margin of the border must be alike.
 */
const jointOf = (
  first: Piece,
  second: Piece,
  border: number,
): { readonly before: number; readonly after: number } | null => {
  const ahead = tokensNear(first, border);
  const behind = tokensNear(second, border);
  if (ahead.tokens.length !== behind.tokens.length || ahead.tokens.length < LEAST_ALIKE) return null;
  let middle = 0;
  for (const [index, token] of ahead.tokens.entries()) {
    const other = behind.tokens[index]!;
    if (token.id !== other.id || token.start !== other.start || token.end !== other.end) return null;
    if (token.end <= border) middle = index + 1;
  }
  return { before: ahead.from + middle, after: behind.from + middle };
};

interface NearTokens {
  /** Number of the first of them in its piece. */
  readonly from: number;
  readonly tokens: readonly { readonly id: number; readonly start: number; readonly end: number }[];
}

/** Tokens of a piece that begin within half a margin of a border, which lies near one of its ends. */
const tokensNear = ({ characters, encoded: { ids, place } }: Piece, border: number): NearTokens => {
  const least = border - MARGIN / 2 - characters;
  const most = border + MARGIN / 2 - characters;
  const startOf = (token: number): number => place(token)?.[0] ?? -1;
  let from = 0;
  if (least > MARGIN) for (from = ids.length; from > 0 && startOf(from - 1) >= least; from--);
  else while (from < ids.length && startOf(from) < least) from++;
  const tokens: { id: number; start: number; end: number }[] = [];
  for (let token = from; token < ids.length; token++) {
    const [start, end] = place(token) ?? [-1, -1];
    if (start > most) break;
    tokens.push({ id: ids[token]!, start: start + characters, end: end + characters });
  }
  return { from, tokens };
};

/** The place itself, or the one before it where it would cut a surrogate pair. */
const whole = (text: string, at: number): number =>
  at > 0 && at < text.length && (text.charCodeAt(at) & 0xfc00) === 0xdc00 ? at - 1 : at;

const codePoints = (text: string): number => {
  let count = text.length;
  for (let at = 0; at < text.length; at++) if ((text.charCodeAt(at) & 0xfc00) === 0xdc00) count--;
  return count;
};
