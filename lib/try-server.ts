import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import type { DatabaseHandle } from '@/db/client';
import { isDatabaseUnavailable, pgErrorCode } from '@/db/database';
import { StartError } from './errors';

const ANSWER_MS = 15_000;

/** Errors of the server of DATABASE_URL that its owner can correct. The first that matches is reported. */
const SENTENCES: { code: RegExp; url?: RegExp; sentence: string }[] = [
  {
    code: /^42501$/,
    sentence:
      'The user of DATABASE_URL lacks rights in that database: make it the owner (alter database NAME owner to USER), or grant create on database NAME and on schema public to it.',
  },
  {
    code: /^28P01$/,
    sentence: 'The server of DATABASE_URL refused its user or password: check both.',
  },
  {
    code: /^28...$/,
    sentence:
      'The server of DATABASE_URL does not let its user in: check the user, and what pg_hba.conf allows from here.',
  },
  {
    code: /^3D000$/,
    sentence: 'The server of DATABASE_URL has no database of that name: create it, or correct the name.',
  },
  {
    code: /^(ECONNRESET|EPROTO|ERR_SSL_\w+)$/,
    url: /[?&](ssl|sslmode)=(?!disable|false|prefer|allow)/,
    sentence:
      'The database of DATABASE_URL hung up when it was asked for SSL: turn SSL on there, or take sslmode out of the address.',
  },
  {
    code: /CERT|^UNABLE_TO_/,
    sentence:
      'The certificate of the server of DATABASE_URL is not trusted: give one that is, or set sslmode=require, which does not look at it.',
  },
  {
    code: /^42704$/,
    sentence:
      'The database of DATABASE_URL does not know a parameter of the address: check what follows its ?.',
  },
];

/**
 * First use of a server's database. One that does not speak PostgreSQL may keep us waiting for ever.
 *
 * @throws StartError saying what is wrong with the address; the handle is closed then
 */
export async function tryServer<T>(handle: DatabaseHandle, url: string, use: () => Promise<T>): Promise<T> {
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
    throw toStartError(error, url);
  } finally {
    tooLong.catch(() => {}); // aborted, or reported above
  }
}

function toStartError(error: unknown, address: string): unknown {
  const found = pgErrorCode(error) ?? '';
  const known = SENTENCES.find(({ code, url }) => code.test(found) && (!url || url.test(address)));
  if (known) return new StartError([known.sentence]);
  if (!isDatabaseUnavailable(error)) return error;
  return new StartError(['The database of DATABASE_URL does not answer: start it, or correct its address.']);
}
