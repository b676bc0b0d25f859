import type { Database } from '@/db/database';
import { idAfterHash } from '../customers/match-customer';
import { listServers, matches } from '../servers/queries';
import type { ServerRow } from '../servers/schema';
import { collect, type Found } from './collect';
import type { SearchHit } from './schema';

/** By host name or address; then by part of one of them, of the system, or of the location. There are few. */
export async function findServerHits(db: Database, text: string): Promise<Found> {
  const all = await listServers(db);
  const id = idAfterHash(text);
  const wanted = text.toLowerCase();
  const isNamed = (server: ServerRow) =>
    server.id === id || [server.hostname, ...server.ipv4, ...server.ipv6].includes(wanted);
  return collect(
    async (limit) => all.filter(isNamed).slice(0, limit).map(toHit),
    async (limit) =>
      all
        .filter((server) => matches(server, { q: text }))
        .slice(0, limit)
        .map(toHit),
  );
}

function toHit({ id, hostname, ipv4, location, status }: ServerRow): SearchHit {
  return {
    kind: 'server',
    id,
    title: hostname,
    detail: [ipv4[0], location].filter(Boolean).join(' · '),
    status,
  };
}
