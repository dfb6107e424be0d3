/** What the process of a trial says on its fourth file descriptor before it ends. */
export interface TrialReport {
  /** What the import threw; null: nothing. */
  readonly error: string | null;
}

export const isTrialReport = (value: unknown): value is TrialReport => {
  if (typeof value !== 'object' || value === null || !('error' in value)) return false;
  return value.error === null || typeof value.error === 'string';
};
