import { createReadStream, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { rejectedPath } from '../imports/rejected-file';
import { fileOf, findUpload, type Upload } from './upload-store';

/** Whether rows of a file were refused when it was imported last. */
export function hasRejected(dataDir: string, upload: Upload): boolean {
  return existsSync(rejectedPath(fileOf(dataDir, upload)));
}

/** The rejected rows as a file to correct; null if it does not exist. */
export async function openRejected(dataDir: string, id: string) {
  const upload = await findUpload(dataDir, id);
  if (!upload || !hasRejected(dataDir, upload)) return null;
  const path = rejectedPath(fileOf(dataDir, upload));
  async function* text(): AsyncGenerator<string> {
    yield* createReadStream(path, 'utf8') as AsyncIterable<string>;
  }
  return { name: basename(path), text };
}
