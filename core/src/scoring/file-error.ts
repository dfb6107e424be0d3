import { KvadError } from '../errors/kvad-error.js';

/** KVAD_E_FILE with the system's reason. */
export const scoringFileError = (action: 'read' | 'write', file: string, cause: unknown): KvadError =>
  new KvadError('KVAD_E_FILE', { action, file, reason: reasonOf(cause as NodeJS.ErrnoException) }, { cause });

const reasonOf = ({ code, message }: NodeJS.ErrnoException): string => {
  switch (code) {
    case 'ENOENT':
      return 'it does not exist';
    case 'EACCES':
      return 'permission denied';
    case 'EISDIR':
      return 'it is a folder';
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return message;
  }
};
