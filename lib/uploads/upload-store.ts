import { createWriteStream, mkdirSync, readdirSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { AppError, invalidField, StartError, withFile } from '../errors';
import { IMPORT_NAMES } from '../imports/kinds';
import type { Runtime } from '../runtime';
import { MAX_UPLOAD_BYTES, MAX_UPLOADS } from './upload-limits';

const storedUpload = z.object({
  id: z.string(),
  kind: z.enum(IMPORT_NAMES),
  file_name: z.string(),
  bytes: z.int(),
  uploaded_by: z.string(),
  uploaded_at: z.coerce.date(),
});
/** A file that was uploaded completely. */
export type Upload = z.infer<typeof storedUpload>;

const UPLOAD = 'upload.json';

const uploadsFolder = (dataDir: string): string => resolve(dataDir, 'imports');
export const folderOf = (dataDir: string, id: string): string => join(uploadsFolder(dataDir), id);

/** Returns the path of the uploaded file. It ends with `file_name`, which the log and the rejected file show. */
export function fileOf(dataDir: string, { id, file_name }: Pick<Upload, 'id' | 'file_name'>): string {
  return join(folderOf(dataDir, id), 'file', file_name);
}

/** Finds an upload by the id from a URL. Returns null if no complete upload has this id. */
export async function findUpload(dataDir: string, id: string): Promise<Upload | null> {
  return /^[\w-]{8,64}$/.test(id) ? readJson(join(folderOf(dataDir, id), UPLOAD), storedUpload) : null;
}

/** Lists the uploaded files, the latest first. */
export async function listUploads(dataDir: string): Promise<Upload[]> {
  const found = await Promise.all((await listFolders(dataDir)).map((id) => findUpload(dataDir, id)));
  return found
    .filter((upload) => upload !== null)
    .toSorted((a, b) => b.uploaded_at.getTime() - a.uploaded_at.getTime());
}

/** Lists the ids of all uploads, including incomplete ones. */
export async function listFolders(dataDir: string): Promise<string[]> {
  return (await orNothing(readdir(uploadsFolder(dataDir)))) ?? [];
}

/**
 * Creates the folder of an upload. Returns false if there are too many uploads. It is synchronous, so that no other
 * upload can start between the count and the creation.
 */
function reserveFolder(dataDir: string, id: string, most: number): boolean {
  const folder = uploadsFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).length >= most) return false;
  mkdirSync(folderOf(dataDir, id), { mode: 0o700 });
  return true;
}

/** Deletes an upload with everything in its folder. */
export function deleteFolder(dataDir: string, id: string): Promise<void> {
  return rm(folderOf(dataDir, id), { recursive: true, force: true });
}

/** Reads a JSON file. @returns null if the file does not exist or does not match the schema */
export async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const value: unknown = await orNothing(readFile(path, 'utf8').then((text) => JSON.parse(text)));
  return schema.safeParse(value).data ?? null;
}

/** Writes a JSON file atomically. Only its owner can read it. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.part`, JSON.stringify(value), { mode: 0o600 });
  await rename(`${path}.part`, path);
}

/** Returns null for a missing file, and for invalid JSON, because a file may be empty after a power failure. */
async function orNothing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}

/** Bytes to read beyond the size limit. A client that is still sending when the connection closes sees no response. */
const DRAINED_BYTES = 8_000_000;

/** Maximum length of a file name, which leaves space for suffixes. */
const MAX_NAME_BYTES = 180;

/**
 * Streams an uploaded file to the disk, where only its owner can read it. Deletes everything if the upload fails.
 *
 * @throws AppError conflict if too many files are stored; payload_too_large; validation_failed if the file is empty;
 *   malformed_json if the upload is interrupted; unavailable if the file cannot be written
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
    return await withFile(path, async () => {
      if (!reserveFolder(dataDir, id, MAX_UPLOADS)) {
        throw new AppError('conflict', `${MAX_UPLOADS} files are waiting to be imported: remove one first.`);
      }
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await pipeline(limited(body), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      const { size: bytes } = await stat(path);
      if (bytes === 0) throw invalidField('file', 'must not be empty');
      const upload = { id, kind, file_name, bytes, uploaded_by, uploaded_at: now() };
      await writeJson(join(folderOf(dataDir, id), UPLOAD), upload);
      return upload;
    });
  } catch (error) {
    await deleteFolder(dataDir, id);
    if (error instanceof StartError)
      throw new AppError('unavailable', error.message.replaceAll(path, file_name));
    throw error;
  }
}

/** Checks an upload's size, as declared in the request or as received. @throws AppError payload_too_large */
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

/** Converts the name of an uploaded file to a short name without folders and characters that a file system refuses. */
function toFileName(name: string): string {
  const safe = name.normalize('NFC').replace(/[\p{Cc}/\\:*?"<>|]/gu, '-');
  let fits = [...safe.replace(/^\.+/, '')];
  while (Buffer.byteLength(fits.join('')) > MAX_NAME_BYTES) fits = fits.slice(1); // This keeps the extension.
  return fits.join('') || 'upload.csv';
}
