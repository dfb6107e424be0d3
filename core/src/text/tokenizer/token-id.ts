/** Ids are signed 32-bit integers to the model; a library would wrap what is larger or negative. */
export const MOST_IDS = 2 ** 31;

export const isTokenId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < MOST_IDS;
