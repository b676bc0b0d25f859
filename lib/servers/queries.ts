import { asc } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { servers } from '@/db/schema';
import { type ServerRow, serverRow } from './schema';

/** Every server by hostname; a company owns few enough of them for one answer. */
export async function listServers(db: Database): Promise<ServerRow[]> {
  const records = await db.select().from(servers).orderBy(asc(servers.hostname));
  return records.map((record) => serverRow.parse(record));
}
