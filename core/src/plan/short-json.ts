/** JSON of a value in at most 60 characters. */
export const shortJson = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
};
