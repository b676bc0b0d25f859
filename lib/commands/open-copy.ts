import { perProcess } from '@/db/per-process';
import { StartError } from '../errors';
import type { Runtime } from '../runtime';

const copy = perProcess('copy', () => ({ isOpen: false }));

/**
 * A runtime over a copy of the database, in memory, for what must change nothing. One at a time: it takes
 * as much memory as the database.
 */
export async function openCopy(runtime: Runtime): Promise<Runtime> {
  if (copy.isOpen)
    throw new StartError(['The server is making a dry run already: try again when it has ended.']);
  if (!runtime.copyDatabase) throw new Error('only an embedded database can be copied');
  copy.isOpen = true;
  try {
    const { db, close } = await runtime.copyDatabase();
    return { ...runtime, db, close: () => close().finally(() => (copy.isOpen = false)) };
  } catch (error) {
    copy.isOpen = false;
    throw error;
  }
}
