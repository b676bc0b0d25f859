import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withFile } from '../file-problem';

/**
 * Writes CSV into a file for its owner alone, which is there when it is complete, and not before.
 *
 * @throws StartError where it cannot be written; an AbortError where it was stopped
 */
export async function writeExport(
  path: string,
  csv: AsyncIterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const partial = `${path}.part`;
  try {
    await withFile(path, () =>
      pipeline(Readable.from(csv), createWriteStream(partial, { mode: 0o600 }), { signal }),
    );
    await withFile(path, () => rename(partial, path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}
