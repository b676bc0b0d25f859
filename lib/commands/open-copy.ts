import { StartError } from '../errors';
import type { Runtime } from '../runtime';

let isOpen = false;

/**
 * A runtime over a copy of the database, in memory, for what must change nothing. One at a time: it takes
 * as much memory as the database.
 */
export async function openCopy(runtime: Runtime): Promise<Runtime> {
  if (isOpen) throw new StartError(['The server is making a dry run already: try again when it has ended.']);
  if (!runtime.copyDatabase) throw new Error('only an embedded database can be copied');
  isOpen = true;
  try {
    const { db, close } = await runtime.copyDatabase();
    return { ...runtime, db, close: () => close().finally(() => (isOpen = false)) };
  } catch (error) {
    isOpen = false;
    throw error;
  }
}
