import { sql } from 'drizzle-orm';
import { openInMemory, openPostgres } from '@/db/client';
import type { Database } from '@/db/database';
import { migrate } from '@/db/migrate';
import { withDatabase } from '../support/database-url';

export interface OwnDatabase {
  db: Database;
  close(): Promise<void>;
}

/** A migrated database of this process alone: in memory, or a new one on a PostgreSQL server. */
export async function openOwnDatabase(server: string | null): Promise<OwnDatabase> {
  if (server === null) {
    const handle = await openInMemory();
    await migrate(handle);
    return handle;
  }
  const name = `w5t_simulation_${process.pid}`;
  const admin = openPostgres(server, { max: 1 });
  await admin.db.execute(sql.raw(`create database ${name}`));
  // What a crash of the server would lose is no part of the simulation.
  await admin.db.execute(sql.raw(`alter database ${name} set synchronous_commit = off`));
  // Two that wait for each other are noticed before either gives up.
  await admin.db.execute(sql.raw(`alter database ${name} set deadlock_timeout = '10ms'`));
  const handle = openPostgres(withDatabase(server, name));
  await migrate(handle);
  return {
    db: handle.db,
    async close() {
      await handle.close();
      await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
      await admin.close();
    },
  };
}
