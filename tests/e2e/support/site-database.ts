import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { inject } from 'vitest';
import { openEmbedded, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { migrate } from '@/db/migrate';
import { withDatabase } from '../../support/database-url';

/** A new database for a server, filled: an embedded one in its folder, or one on the tests' own server. */
export async function createDatabase(dataDir: string, fill: (db: Database) => Promise<void>) {
  const server = inject('postgres');
  if (!server) {
    const handle = await openEmbedded(dataDir);
    await migrate(handle);
    await fill(handle.db);
    await handle.close();
    const look = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
      const reopened = await openEmbedded(dataDir);
      try {
        return await work(reopened.db);
      } finally {
        await reopened.close();
      }
    };
    return { env: {}, look, isShared: false, drop: async () => {} };
  }
  const name = `w5t_e2e_${randomUUID().replaceAll('-', '')}`;
  const onServer = async (statement: string) => {
    const admin = openPostgres(server.url, { max: 1 });
    await admin.db.execute(sql.raw(statement));
    await admin.close();
  };
  await onServer(`create database ${name} template ${server.template}`);
  const url = withDatabase(server.url, name);
  const look = async <T>(work: (db: Database) => Promise<T>): Promise<T> => {
    const handle = openPostgres(url);
    try {
      return await work(handle.db);
    } finally {
      await handle.close();
    }
  };
  await look(fill);
  return {
    env: { DATABASE_URL: url, BETTER_AUTH_SECRET: randomUUID() },
    look,
    isShared: true,
    drop: () => onServer(`drop database ${name} with (force)`),
  };
}
