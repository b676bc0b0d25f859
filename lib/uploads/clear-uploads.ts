import { stat } from 'node:fs/promises';
import { pgErrorCode } from '@/db/database';
import type { Runtime } from '../runtime';
import { currentJob } from './import-run';
import { UPLOAD_KEPT_MS } from './upload-limits';
import { deleteFolder, findUpload, folderOf, listFolders } from './upload-store';

const EVERY_MS = 3_600_000;
/** Longer than a file may take to arrive. */
const ARRIVING_MS = 3_600_000;

type Deps = Pick<Runtime, 'env' | 'now' | 'log'>;

/** Removes files that were uploaded a day ago: now, and every hour while the process lives. */
export function keepUploadsCleared(deps: Deps): void {
  const clear = () =>
    clearUploads(deps).catch((error: unknown) => {
      deps.log.warn({ code: pgErrorCode(error) }, 'uploaded files could not be removed');
    });
  setInterval(clear, EVERY_MS).unref();
  void clear();
}

/** What is being imported stays until the next time. */
export async function clearUploads({ env: { dataDir }, now }: Deps): Promise<void> {
  for (const id of await listFolders(dataDir)) {
    if (currentJob()?.upload.id === id) continue;
    const upload = await findUpload(dataDir, id);
    const since = upload?.uploaded_at ?? (await stat(folderOf(dataDir, id))).mtime;
    const kept = upload ? UPLOAD_KEPT_MS : ARRIVING_MS;
    if (now().getTime() - since.getTime() >= kept) await deleteFolder(dataDir, id);
  }
}
