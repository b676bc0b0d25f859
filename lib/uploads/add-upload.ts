import { createWriteStream } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, invalidField, StartError } from '../errors';
import { withFile } from '../file-problem';
import type { Runtime } from '../runtime';
import { MAX_UPLOAD_BYTES, MAX_UPLOADS } from './upload-limits';
import { deleteFolder, fileOf, takePlace, type Upload, writeUpload } from './upload-store';

/** Read of what is too much: who is cut off while sending sees no answer. */
const DRAINED_BYTES = 8_000_000;

/** Of a name, so that it fits with what is added to it. */
const MAX_NAME_BYTES = 180;

/**
 * Keeps a file that arrives, piece by piece, for its owner alone. Of one that does not arrive whole nothing is kept.
 *
 * @throws AppError
 */
export async function addUpload(
  { env: { dataDir }, newId, now }: Pick<Runtime, 'env' | 'newId' | 'now'>,
  { kind, name, uploaded_by }: Pick<Upload, 'kind' | 'uploaded_by'> & { name: string },
  body: AsyncIterable<Uint8Array>,
): Promise<Upload> {
  const id = newId();
  const file_name = toFileName(name);
  const path = fileOf(dataDir, { id, file_name });
  try {
    await withFile(path, async () => {
      if (!takePlace(dataDir, id, MAX_UPLOADS)) {
        throw new AppError('conflict', `${MAX_UPLOADS} files are waiting to be imported: remove one first.`);
      }
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await pipeline(limited(body), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    });
    const { size: bytes } = await stat(path);
    if (bytes === 0) throw invalidField('file', 'must not be empty');
    const upload = { id, kind, file_name, bytes, uploaded_by, uploaded_at: now() };
    await writeUpload(dataDir, upload);
    return upload;
  } catch (error) {
    await deleteFolder(dataDir, id);
    if (error instanceof StartError)
      throw new AppError('unavailable', error.message.replaceAll(path, file_name));
    throw error;
  }
}

/** @throws AppError payload_too_large, before the file is read if the request states its size */
export function requireUploadSize(bytes: number): void {
  if (bytes <= MAX_UPLOAD_BYTES) return;
  throw new AppError(
    'payload_too_large',
    `Files can be up to ${MAX_UPLOAD_BYTES / 1e6} MB here: import larger ones with npm run import.`,
  );
}

async function* limited(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes <= MAX_UPLOAD_BYTES) yield chunk;
      else if (bytes > MAX_UPLOAD_BYTES + DRAINED_BYTES) break;
    }
    requireUploadSize(bytes);
  } catch (error) {
    throw error instanceof AppError ? error : new AppError('malformed_json', 'The upload was interrupted.');
  }
}

/** Turns a file name of another computer into one that every file system accepts, without folders. */
function toFileName(name: string): string {
  const safe = name.normalize('NFC').replace(/[\p{Cc}/\\:*?"<>|]/gu, '-');
  let fits = [...safe.replace(/^\.+/, '')];
  while (Buffer.byteLength(fits.join('')) > MAX_NAME_BYTES) fits = fits.slice(1); // its ending stays
  return fits.join('') || 'upload.csv';
}
