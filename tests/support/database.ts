import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, inject } from 'vitest';
import { type DatabaseHandle, openInMemory, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { TRANSACTION_POOLER } from '@/db/pooler';
import { withDatabase } from './database-url';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A PostgreSQL server's address and its migrated template, and a pooler before it; null: PGlite. */
    postgres: { url: string; template: string; pooler: string | null } | null;
    /** A migrated PGlite image on disk. */
    pgliteImage: string;
  }
}

/** A fresh, migrated, empty database: PGlite, or one of TEST_DATABASE_URL's server, with its address there. */
export async function createTestDatabase(): Promise<DatabaseHandle & { url?: string }> {
  const server = inject('postgres');
  if (!server) return openInMemory(await readImage(inject('pgliteImage')));
  const name = `w5t_${randomUUID().replaceAll('-', '')}`;
  const admin = openPostgres(server.url, { max: 1 });
  await admin.db.execute(sql.raw(`create database ${name} template ${server.template}`));
  const handle = openPostgres(withDatabase(server.pooler ?? server.url, name), {
    pooler: server.pooler ? TRANSACTION_POOLER : undefined,
  });
  return {
    ...handle,
    url: withDatabase(server.url, name),
    close: async () => {
      await handle.close();
      await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
      await admin.close();
    },
  };
}

/** One database for the tests of a file (or a describe block). */
export function useDatabase(): { readonly db: Database } {
  let handle: DatabaseHandle | undefined;
  beforeAll(async () => {
    handle = await createTestDatabase();
  });
  afterAll(() => handle?.close());
  return {
    get db() {
      if (!handle) throw new Error('the database is open only inside tests');
      return handle.db;
    },
  };
}

/** True where a transaction pooler stands between the tests and their server. */
export const isPooled = () => typeof inject('postgres')?.pooler === 'string';

/** True where tests run on a server, so that several connections race for real. */
export const onPostgres = () => inject('postgres') !== null;

async function readImage(path: string): Promise<Blob> {
  return new Blob([new Uint8Array(await readFile(path))]);
}
