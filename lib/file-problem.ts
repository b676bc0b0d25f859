import { StartError } from './errors';

const SENTENCES: Record<string, string> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EISDIR: 'is a folder',
  EACCES: 'may not be opened: its permissions do not allow it',
  EPERM: 'may not be opened: its permissions do not allow it',
  EROFS: 'cannot be written: the disk is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  EDQUOT: 'cannot be written: the disk quota is used up',
  EEXIST: 'is there already',
  EFBIG: 'cannot be written: it would be too large',
  ENAMETOOLONG: 'has too long a name',
};

/** An error of the file system as a sentence that names the file; any other as it is. */
export function fileProblem(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error)) return error;
  const { code = '' } = error as NodeJS.ErrnoException;
  return new StartError([`${path} ${SENTENCES[code] ?? `cannot be read or written (${code})`}.`]);
}

/** Does something with a file; what is wrong with it is thrown as a sentence. */
export async function withFile<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw fileProblem(error, path);
  }
}
