import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { DatabaseHandle } from '@/db/client';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { StartError } from './errors';

const ANSWER_MS = 15_000;
// Class 28 is a refused user or password, 3D a database that is not there, 42501 a missing right.
const REFUSED = /^(28...|3D000|42501)$/;

/**
 * First use of a server's database. One that does not speak PostgreSQL may keep us waiting for ever.
 *
 * @throws StartError saying what is wrong with the address; the handle is closed then
 */
export async function tryServer<T>(handle: DatabaseHandle, use: () => Promise<T>): Promise<T> {
  const silence = new AbortController();
  const tooLong = sleep(ANSWER_MS, undefined, { signal: silence.signal }).then(() => {
    throw Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' });
  });
  try {
    await Promise.race([handle.db.execute(sql`select 1`), tooLong]);
    silence.abort();
    return await use();
  } catch (error) {
    await handle.close();
    if (REFUSED.test(pgErrorCode(error) ?? '')) {
      throw new StartError(['The database of DATABASE_URL refused us: check its user, password and name.']);
    }
    if (!isDatabaseUnavailable(error)) throw error;
    throw new StartError(['The database of DATABASE_URL does not answer: start it, or correct its address.']);
  } finally {
    tooLong.catch(() => {}); // aborted, or reported above
  }
}
