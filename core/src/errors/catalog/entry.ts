/** What the catalogue says of an error: a message of one sentence with value and file, and a hint of one action. */
export interface Entry<P> {
  message(params: P): string;
  hint(params: P): string;
}

export const entry = <P>(message: (params: P) => string, hint: string | ((params: P) => string)): Entry<P> => ({
  message,
  hint: typeof hint === 'string' ? () => hint : hint,
});

export const list = (values: readonly string[], most = 8): string =>
  values.length <= most ? values.join(', ') : `${values.slice(0, most).join(', ')} and ${values.length - most} more`;
