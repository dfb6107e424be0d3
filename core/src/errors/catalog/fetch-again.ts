/** A place below a snapshot of the Hub's cache: models--owner--name/snapshots/<commit>. */
const SNAPSHOT = /(?:^|[\\/])models--([\w.-]+)[\\/]snapshots[\\/]([0-9a-f]{40})(?=[\\/]|$)/;

/**
 * What mends a damaged file: where its path says that it came from the Hub, the command that fetches it anew (the very
 * revision, which need not be the newest), else `otherwise`.
 */
export const fetchAgain = (place: string, otherwise: string): string => {
  const [, name, revision] = SNAPSHOT.exec(place) ?? [];
  if (name === undefined || revision === undefined) return otherwise;
  return `kvad pull --verify ${name.replace('--', '/')}@${revision} fetches what is damaged anew`;
};
