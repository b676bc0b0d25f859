import { existsSync, readFileSync } from 'node:fs';

/** The number of files that the database, its connections and Next may have open at once. */
const OWN_FILES = 192;

/** Limits on client connections and requests. Times are in milliseconds, sizes in bytes. */
export const LIMITS = {
  /** The body of a page's request, including server actions, which send forms. API routes limit their own bodies. */
  pageBody: 131_072,
  /** Time from the connection, or from the request's first byte, to the end of the headers. */
  headersMs: 15_000,
  /** Time to the end of the request body, however slowly it arrives. */
  requestMs: 30_000,
  /** Time to the end of a file that staff upload. Enough for 200 MB at 2 Mbit/s. */
  uploadMs: 900_000,
  /** The interval at which these times are checked. */
  checkMs: 1000,
  /** How long a client may read nothing of its response. */
  unreadMs: 60_000,
  /** How long an idle connection stays open. */
  keepAliveMs: 5000,
  /** How long open requests may delay the server's stop. */
  stopMs: 6000,
  headerBytes: 16_384,
  headers: 200,
  /** The number of requests of a connection that may wait for the response to an earlier request. */
  sentAhead: 16,
  /** The number of pages, and of API requests, that Next handles at once, in total and per client. Others wait. */
  pagesAtOnce: 4,
  pagesOfClient: 3,
  routesAtOnce: 16,
  routesOfClient: 12,
  /** The number of pages, and of API requests, that may wait, in total and per client, and the longest wait. */
  pagesWaiting: 512,
  pagesWaitingOfClient: 256,
  pagePatienceMs: 10_000,
  /** The time after which a request that Next still handles gives up its place to another. */
  pagePlaceMs: 2000,
  connections: maxConnections(),
};

export type Limits = typeof LIMITS;

/** Returns how many connections memory and open files allow. Without /proc, assumes that 1,024 files may be open. */
function maxConnections(): number {
  const limits = '/proc/self/limits';
  const told = existsSync(limits)
    ? /^Max open files +(\d+)/m.exec(readFileSync(limits, 'utf8'))?.[1]
    : undefined;
  return Math.min(2000, Math.max(64, Number(told ?? 1024) - OWN_FILES));
}
