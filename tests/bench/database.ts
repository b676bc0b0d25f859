import { randomBytes } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { migrate } from '@/db/migrate';
import { seedDatabase } from '@/db/seed';
import { withDatabase } from '../support/database-url';

/** The address of a server where databases may be made. */
export const SERVER =
  process.env.BENCH_DATABASE_URL ??
  process.env.TEST_DATABASE_URL ??
  'postgres://postgres@127.0.0.1:5432/postgres';

/** A PostgreSQL database with the sample data, gone after `work`. */
export function withSeededDatabase(work: (db: Database, url: string) => Promise<void>): Promise<void> {
  return withMigratedDatabase(async (db, url) => {
    await seedDatabase(db, { today: '2026-11-21', timeZone: 'UTC' });
    await db.execute(sql`analyze`);
    await work(db, url);
  });
}

/** The same without any rows. */
export async function withMigratedDatabase(
  work: (db: Database, url: string) => Promise<void>,
): Promise<void> {
  const name = `w5t_bench_${randomBytes(6).toString('hex')}`;
  const admin = openPostgres(SERVER, { max: 1 });
  await admin.db.execute(sql.raw(`create database ${name}`));
  const url = withDatabase(SERVER, name);
  const handle = openPostgres(url, { max: 2 });
  try {
    await migrate(handle);
    await work(handle.db, url);
  } finally {
    await handle.close();
    await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
    await admin.close();
  }
}
