import type { Database } from '@/db/database';
import { toCsv } from '../csv';
import { listServers, matches } from './queries';
import { serverRow } from './schema';
import type { ServerFilters } from './staff-filters';

/** The servers that match as CSV; several addresses stand in one cell with spaces between. */
export function serversCsv(db: Database, filters: ServerFilters): AsyncGenerator<string> {
  return toCsv(Object.keys(serverRow.shape), readRecords(db, filters));
}

async function* readRecords(db: Database, filters: ServerFilters) {
  const found = (await listServers(db)).filter((server) => matches(server, filters));
  yield found.map((server) => ({
    ...server,
    ipv4: server.ipv4.join(' '),
    ipv6: server.ipv6.join(' '),
  }));
}
