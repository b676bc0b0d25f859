import type { DatabaseHandle } from '@/db/client';
import { type Env, readEnv } from '../env';
import { openDatabase } from '../runtime';

/**
 * Opens the configured database for a command and closes it afterwards, come what may.
 *
 * @throws StartError when the database cannot be used
 */
export async function withDatabase<T>(run: (handle: DatabaseHandle, env: Env) => Promise<T>): Promise<T> {
  const env = readEnv();
  const handle = await openDatabase(env);
  try {
    return await run(handle, env);
  } finally {
    await handle.close();
  }
}
