import { asc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { servers } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { type ServerRow, serverRow } from './schema';

/** Every server by hostname; a company owns few enough of them for one answer. */
export async function listServers(db: Database): Promise<ServerRow[]> {
  const records = await db.select().from(servers).orderBy(asc(servers.hostname));
  return records.map((record) => serverRow.parse(record));
}

/** One server. @throws AppError not_found */
export async function getServer(db: Database, id: number): Promise<ServerRow> {
  const [found] = await db
    .select()
    .from(servers)
    .where(eq(servers.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no server ${id}.`);
  return serverRow.parse(found);
}
