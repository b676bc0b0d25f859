import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { type DatabaseHandle, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { migrate } from '@/db/migrate';
import { seedDatabase } from '@/db/seed';
import { commandActor } from '@/lib/audit/audit-log';
import { toProviderEvent } from '@/lib/stripe/event';
import { handleEvent } from '@/lib/sync/inbox/handle-event';
import { type SyncDeps, syncDeps } from '@/lib/sync/sync-deps';
import { createAccessToken } from '@/lib/tokens/manage-access-tokens';
import { withDatabase } from '../support/database-url';
import { testRuntime } from '../support/runtime';
import { openFilled } from './scale-fill';

/** A PostgreSQL server on which the benches may create databases. */
export const SERVER =
  process.env.BENCH_DATABASE_URL ??
  process.env.TEST_DATABASE_URL ??
  'postgres://postgres@127.0.0.1:5432/postgres';

export const BENCH_ACTOR = commandActor('bench');

/** Runs `work` on a new database with the sample data, and drops the database afterwards. */
export function withSeededDatabase(work: (db: Database, url: string) => Promise<void>): Promise<void> {
  return withMigratedDatabase(async (db, url) => {
    await seedDatabase(db, { today: '2026-11-21', timeZone: 'UTC' });
    await db.execute(sql`analyze`);
    await work(db, url);
  });
}

/** Runs `work` on a copy of the scale bench's small database, and drops the copy afterwards. */
export async function withFilledDatabase(work: (db: Database, url: string) => Promise<void>): Promise<void> {
  const { url, handle } = await openFilled(SERVER, 1);
  await handle.close();
  await withNewDatabase(`template ${new URL(url).pathname.slice(1)}`, async (handle, copyUrl) => {
    await handle.db.execute(sql`analyze`);
    await work(handle.db, copyUrl);
  });
}

/** Runs `work` on a new, migrated database without sample data, and drops the database afterwards. */
export function withMigratedDatabase(work: (db: Database, url: string) => Promise<void>): Promise<void> {
  return withNewDatabase('', async (handle, url) => {
    await migrate(handle);
    await work(handle.db, url);
  });
}

async function withNewDatabase(
  options: string,
  work: (handle: DatabaseHandle, url: string) => Promise<void>,
): Promise<void> {
  const name = `w5t_bench_${randomBytes(6).toString('hex')}`;
  const admin = openPostgres(SERVER, { max: 1 });
  await admin.db.execute(sql.raw(`create database ${name} ${options}`));
  const url = withDatabase(SERVER, name);
  const handle = openPostgres(url, { max: 2 });
  try {
    await work(handle, url);
  } finally {
    await handle.close();
    await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
    await admin.close();
  }
}

/** Creates an access token. @returns its secret text */
export async function createBenchToken(
  db: Database,
  scopes: Parameters<typeof createAccessToken>[1]['scopes'],
): Promise<string> {
  const token = { name: 'bench', scopes, expires_at: null, created_by: BENCH_ACTOR };
  return (await createAccessToken(db, token, randomBytes)).token;
}

/** Returns the dependencies of sync, without access to Stripe. */
export const benchDeps = (db: Database): SyncDeps => ({
  ...syncDeps(testRuntime(db, { env: { APP_TIMEZONE: 'UTC', LOG_LEVEL: 'error' } })),
  now: () => new Date(),
});

/** Handles events like a webhook delivery whose signature was checked. */
export async function take(deps: SyncDeps, payloads: string[]): Promise<void> {
  for (const payload of payloads) {
    const event = toProviderEvent(JSON.parse(payload));
    if (event) await handleEvent(deps, event, payload);
  }
}
