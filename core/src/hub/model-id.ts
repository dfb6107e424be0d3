/** A model of the Hub; revision null: the one that `main` names. */
export interface HubModel {
  /** `owner/name`; the oldest models have no owner. */
  readonly id: string;
  /** Branch, tag, commit or the first digits of a commit. */
  readonly revision: string | null;
}

/** What every model of the Hub has unless somebody says otherwise. */
export const MAIN = 'main';

const NAME = /^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?$/;

/** `owner/name[@revision]`, or null where a text is none. A name without owner counts if `bare` is true. */
export const parseModelId = (text: string, { bare = false } = {}): HubModel | null => {
  const at = text.indexOf('@');
  const id = at === -1 ? text : text.slice(0, at);
  const revision = at === -1 ? null : text.slice(at + 1);
  const names = id.split('/');
  if (names.length > 2 || (names.length === 1 && !bare)) return null;
  // `--` stands for the slash in names of cache folders; the Hub allows neither it nor `..` in a name.
  if (names.some((name) => !NAME.test(name) || /--|\.\./.test(name))) return null;
  return revision === null || isRevision(revision) ? { id, revision } : null;
};

/** Whether a text could be a revision: it becomes a path below `refs`, so it must not lead out of it. */
const isRevision = (text: string): boolean =>
  /^[\w][\w./+-]*$/.test(text) && text.split('/').every((part) => part !== '' && !/^\.+$/.test(part));

/** As a user would type it. */
export const modelName = ({ id, revision }: HubModel): string => (revision === null ? id : `${id}@${revision}`);

/** Name of a model's folder in the cache. */
export const cacheName = (id: string): string => `models--${id.replace('/', '--')}`;

/** The model of a folder in the cache; null for other folders. */
export const idOfCacheName = (name: string): string | null => {
  const parts = /^models--(.+)$/.exec(name)?.[1]?.split('--');
  if (parts === undefined) return null;
  return parseModelId(parts.join('/'), { bare: true })?.id ?? null;
};

export const isCommit = (revision: string): boolean => /^[0-9a-f]{40}$/.test(revision);

/** The first digits of a commit: as few as Git prints at least. */
export const isShortCommit = (revision: string): boolean => /^[0-9a-f]{7,39}$/.test(revision);
