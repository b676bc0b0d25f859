import { asc, eq } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { serverStatus, servers } from '@/db/schema';
import { toCsv } from '../csv';
import { AppError } from '../errors';
import { oneOf, searchLine } from '../fields';
import { MAX_ID, type PageRequest, pageBounds, perPageParam, toPage } from '../page';

export const serverRow = z.object({
  id: z.int(),
  hostname: z.string(),
  ipv4: z.array(z.string()),
  ipv6: z.array(z.string()),
  stack: z.string().nullable(),
  operating_system: z.string().nullable(),
  cpu: z.string().nullable(),
  cpu_cores: z.int().nullable(),
  ram_gb: z.int().nullable(),
  storage: z.string().nullable(),
  control_panel: z.string().nullable(),
  location: z.string().nullable(),
  status: z.enum(serverStatus.enumValues),
});

export type ServerRow = z.infer<typeof serverRow>;

export const SERVER_STATUSES = serverStatus.enumValues;

/** The filters of the server list on staff pages. */
export const serverFilters = z.object({
  /** Part of a host name, an IP address, an operating system or a location. Case is ignored. */
  q: searchLine(200).optional(),
  status: oneOf(SERVER_STATUSES).optional(),
  per_page: perPageParam,
});
type ServerFilters = z.infer<typeof serverFilters>;

/** Lists all servers, sorted by host name. They are few enough for one response. */
export async function listServers(db: Database): Promise<ServerRow[]> {
  const records = await db.select().from(servers).orderBy(asc(servers.hostname));
  return records.map((record) => serverRow.parse(record));
}

/** Lists a page of the matching servers, sorted by host name. */
export async function listServersForStaff(db: Database, filters: ServerFilters, { page }: PageRequest) {
  const found = await listMatching(db, filters);
  const request = { page, per_page: filters.per_page };
  const { offset, limit } = pageBounds(request);
  return toPage(request, found.length, found.slice(offset, offset + limit));
}

const listMatching = async (db: Database, filters: ServerFilters) =>
  (await listServers(db)).filter((server) => matches(server, filters));

/** Returns whether a server matches the filters of the list on the staff pages. */
export function matches(server: ServerRow, { q, status }: Omit<ServerFilters, 'per_page'>): boolean {
  const { hostname, ipv4, ipv6, operating_system, location } = server;
  const texts = [hostname, ...ipv4, ...ipv6, operating_system, location];
  const wanted = q?.toLowerCase() ?? '';
  return (!status || server.status === status) && texts.some((text) => text?.toLowerCase().includes(wanted));
}

/** Returns a server. @throws AppError not_found */
export async function getServer(db: Database, id: number): Promise<ServerRow> {
  const [found] = await db
    .select()
    .from(servers)
    .where(eq(servers.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no server ${id}.`);
  return serverRow.parse(found);
}

/** Returns the matching servers as CSV. The IP addresses of a server are in one cell, separated by spaces. */
export function serversCsv(db: Database, filters: ServerFilters): AsyncGenerator<string> {
  return toCsv(Object.keys(serverRow.shape), readRecords(db, filters));
}

async function* readRecords(db: Database, filters: ServerFilters) {
  const found = await listMatching(db, filters);
  yield found.map((server) => ({ ...server, ipv4: server.ipv4.join(' '), ipv6: server.ipv6.join(' ') }));
}
