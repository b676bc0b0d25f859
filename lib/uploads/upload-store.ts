import { mkdirSync, readdirSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { IMPORT_NAMES } from '../imports/kinds';

const storedUpload = z.object({
  id: z.string(),
  kind: z.enum(IMPORT_NAMES),
  file_name: z.string(),
  bytes: z.int(),
  uploaded_by: z.string(),
  uploaded_at: z.coerce.date(),
});
/** A file that waits to be imported. */
export type Upload = z.infer<typeof storedUpload>;

const UPLOAD = 'upload.json';

/** The folder of all uploads, which each have one of their own in it. */
export const uploadsFolder = (dataDir: string): string => resolve(dataDir, 'imports');
export const folderOf = (dataDir: string, id: string): string => join(uploadsFolder(dataDir), id);

/** Where the file itself is: under its own name, by which the log and the rejected rows call it. */
export function fileOf(dataDir: string, { id, file_name }: Pick<Upload, 'id' | 'file_name'>): string {
  return join(folderOf(dataDir, id), 'file', file_name);
}

export function writeUpload(dataDir: string, upload: Upload): Promise<void> {
  return writeJson(join(folderOf(dataDir, upload.id), UPLOAD), upload);
}

/** @param id as an address has it; null: there is no such upload, or no more */
export async function findUpload(dataDir: string, id: string): Promise<Upload | null> {
  return /^[\w-]{8,64}$/.test(id) ? readJson(join(folderOf(dataDir, id), UPLOAD), storedUpload) : null;
}

/** The files that wait, the latest first. */
export async function listUploads(dataDir: string): Promise<Upload[]> {
  const found = await Promise.all((await listFolders(dataDir)).map((id) => findUpload(dataDir, id)));
  return found
    .filter((upload) => upload !== null)
    .toSorted((a, b) => b.uploaded_at.getTime() - a.uploaded_at.getTime());
}

/** The ids of uploads, those that are still arriving among them. */
export async function listFolders(dataDir: string): Promise<string[]> {
  return (await orNothing(readdir(uploadsFolder(dataDir)))) ?? [];
}

/** Makes the folder of an upload, unless there are so many already. Does not wait, so that no other comes in between. */
export function takePlace(dataDir: string, id: string, most: number): boolean {
  const folder = uploadsFolder(dataDir);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (readdirSync(folder).length >= most) return false;
  mkdirSync(folderOf(dataDir, id), { mode: 0o700 });
  return true;
}

/** With all that was made of it. */
export function deleteFolder(dataDir: string, id: string): Promise<void> {
  return rm(folderOf(dataDir, id), { recursive: true, force: true });
}

/** @returns null if the file does not exist or has another version */
export async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | null> {
  const text = await orNothing(readFile(path, 'utf8'));
  return text === null ? null : (schema.safeParse(parseJson(text)).data ?? null);
}

/** After a power failure a file may be empty. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Whole at every moment, and for its owner alone. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFile(`${path}.part`, JSON.stringify(value), { mode: 0o600 });
  await rename(`${path}.part`, path);
}

async function orNothing<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (/^(ENOENT|ENOTDIR)$/.test((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  }
}
