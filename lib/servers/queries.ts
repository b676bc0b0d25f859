import { asc, eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { servers } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID, type Page, type PageRequest, pageBounds, toPage } from '../page';
import { type ServerRow, serverRow } from './schema';
import type { ServerFilters } from './staff-filters';

/** Every server by hostname; a company owns few enough of them for one answer. */
export async function listServers(db: Database): Promise<ServerRow[]> {
  const records = await db.select().from(servers).orderBy(asc(servers.hostname));
  return records.map((record) => serverRow.parse(record));
}

/** One page of the servers that match, by hostname. */
export async function listServersForStaff(
  db: Database,
  filters: ServerFilters,
  { page }: PageRequest,
): Promise<Page<ServerRow>> {
  const found = (await listServers(db)).filter((server) => matches(server, filters));
  const request = { page, per_page: filters.per_page };
  const { offset, limit } = pageBounds(request);
  return toPage(request, found.length, found.slice(offset, offset + limit));
}

/** Whether a server passes the staff's filters. */
export function matches(server: ServerRow, { q, status }: Omit<ServerFilters, 'per_page'>): boolean {
  const { hostname, ipv4, ipv6, operating_system, location } = server;
  const texts = [hostname, ...ipv4, ...ipv6, operating_system, location];
  const wanted = q?.toLowerCase() ?? '';
  return (!status || server.status === status) && texts.some((text) => text?.toLowerCase().includes(wanted));
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
