import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** Puts a snapshot into a cache as Python's huggingface_hub lays it out. A content of null: a link whose blob is gone. */
export const cacheSnapshot = (
  cache: string,
  id: string,
  commit: string,
  contents: Readonly<Record<string, string | Buffer | null>>,
  refs: readonly string[] = ['main'],
): string => {
  const repo = path.join(cache, `models--${id.replace('/', '--')}`);
  const snapshot = path.join(repo, 'snapshots', commit);
  for (const folder of [path.join(repo, 'blobs'), path.join(repo, 'refs'), snapshot]) {
    mkdirSync(folder, { recursive: true });
  }
  for (const ref of refs) writeFileSync(path.join(repo, 'refs', ref), commit);
  for (const [name, content] of Object.entries(contents)) {
    const digits = createHash('sha256')
      .update(name)
      .update(content ?? '')
      .digest('hex');
    if (content !== null) writeFileSync(path.join(repo, 'blobs', digits), content);
    const file = path.join(snapshot, name);
    mkdirSync(path.dirname(file), { recursive: true });
    symlinkSync(path.relative(path.dirname(file), path.join(repo, 'blobs', digits)), file);
  }
  return snapshot;
};
