import { type DatabaseHandle, isDriverPatched, openPostgres } from '@/db/client';
import { type Database, pgErrorCode } from '@/db/database';
import { migrate } from '@/db/migrate';
import { isDirect, probePooler, TRANSACTION_POOLER } from '@/db/pooler';
import { bookHistory } from './book-entries';
import type { Env } from './env';
import { StartError } from './errors';
import { explainRefusal, requireMigrated } from './require-migrated';
import { tryServer } from './try-server';

type ServerEnv = Pick<Env, 'databaseUrl' | 'databaseUrlDirect' | 'databasePooler'>;

/** What a pooler answers who asks it for settings of the session. */
const PROTOCOL_VIOLATION = '08P01';
const NEEDS_DIRECT =
  'A dry run needs a session of its own, which the pooler of DATABASE_URL does not give: set DATABASE_URL_DIRECT to the address of the database itself.';

const UNPATCHED =
  'The PostgreSQL driver lacks its patch, which npm ci --ignore-scripts leaves out: run npx patch-package, and npm run build again.';

/**
 * Opens the database of DATABASE_URL and makes sure that it has this version's schema. What stands in between is
 * found out, where DATABASE_POOLER does not tell.
 *
 * @param url of DATABASE_URL
 * @throws StartError saying what to do; NotMigratedError
 */
export async function openServer(url: string, { databasePooler }: ServerEnv): Promise<DatabaseHandle> {
  requirePatchedDriver();
  const told = databasePooler === 'transaction' ? TRANSACTION_POOLER : undefined;
  const handle = await openMigrated(url, openPostgres(url, { pooler: told }));
  if (databasePooler || (await isDirect(handle.db))) return handle;
  const pooler = await probePooler(url);
  if (!pooler.sharesSessions) return handle;
  await handle.close();
  return openPostgres(url, { pooler });
}

/**
 * Opens one direct session to the server. Its temporary tables are its own, and it can only read all other tables.
 *
 * @throws StartError saying what to do; NotMigratedError
 */
export async function openScratch(url: string, { databaseUrlDirect }: ServerEnv): Promise<DatabaseHandle> {
  requirePatchedDriver();
  const direct = databaseUrlDirect ?? url;
  const handle = openPostgres(direct, { scratch: true });
  const isRefused = await handle.db.execute('select 1').then(
    () => false,
    (error: unknown) => pgErrorCode(error) === PROTOCOL_VIOLATION, // any other is explained below
  );
  if (isRefused) {
    await handle.close();
    throw new StartError([NEEDS_DIRECT]);
  }
  await openMigrated(direct, handle);
  if ((await isDirect(handle.db)) || !(await probePooler(direct)).sharesSessions) return handle;
  await handle.close();
  throw new StartError([NEEDS_DIRECT]);
}

/**
 * Migrates the database of DATABASE_URL to this version, through DATABASE_URL_DIRECT if that is set. Does nothing for the
 * embedded database, which is migrated when it is opened.
 *
 * @throws StartError with advice; NotMigratedError if our migrations cannot follow the database's
 */
export async function migrateServer({
  databaseUrl,
  databaseUrlDirect,
  timeZone,
}: ServerEnv & Pick<Env, 'timeZone'>): Promise<void> {
  const url = databaseUrlDirect ?? databaseUrl;
  if (!url) return;
  requirePatchedDriver();
  await withServer(url, async (db) => {
    await migrate({ db }).catch(explainRefusal);
    await bookHistory(db, timeZone);
  });
}

/** Connects to the database of a server for one piece of work. Its schema may be of any version. @throws StartError saying what is wrong with the address */
export async function withServer<T>(url: string, use: (db: Database) => Promise<T>): Promise<T> {
  const handle = openPostgres(url, { max: 1, pooler: TRANSACTION_POOLER });
  const answer = await tryServer(handle, url, () => use(handle.db));
  await handle.close();
  return answer;
}

function requirePatchedDriver(): void {
  if (!isDriverPatched()) throw new StartError([UNPATCHED]);
}

async function openMigrated(url: string, handle: DatabaseHandle): Promise<DatabaseHandle> {
  await tryServer(handle, url, () => requireMigrated(handle.db));
  return handle;
}
