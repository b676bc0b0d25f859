import { existsSync, readFileSync } from 'node:fs';

/** Files that the database, its connections and Next may need at once. */
const OWN_FILES = 192;

/** What clients may take: of time in milliseconds, of size in bytes. */
export const LIMITS = {
  /** Of a page's request, server actions included: forms. The API's doors limit what they read themselves. */
  pageBody: 131_072,
  /** From the connection, or the request's first byte, to the end of its headers. */
  headersMs: 15_000,
  /** To the end of its body, however it trickles. */
  requestMs: 30_000,
  /** The same of a file that staff upload: 200 MB at 2 Mbit/s. */
  uploadMs: 900_000,
  /** How often they are looked at. */
  checkMs: 1000,
  /** How long a client may take nothing of its answer. */
  unreadMs: 60_000,
  /** How long a connection without a request is kept. */
  keepAliveMs: 5000,
  /** How long open requests may keep a server that stops. */
  stopMs: 6000,
  headerBytes: 16_384,
  headers: 200,
  /** How many requests a connection may send ahead of the answer that it waits for. */
  sentAhead: 16,
  /** How many requests Next answers at once, in total and for one client: the rest waits. */
  pagesAtOnce: 4,
  pagesOfClient: 3,
  routesAtOnce: 16,
  routesOfClient: 12,
  /** How many may wait, and for how long. */
  pagesWaiting: 512,
  pagesWaitingOfClient: 256,
  pagePatienceMs: 10_000,
  /** After which a request that Next still answers leaves its place to another one. */
  pagePlaceMs: 2000,
  connections: maxConnections(),
};

export type Limits = typeof LIMITS;

/** So many that their bodies fit into memory, and files can still be opened. Linux tells how many there may be. */
function maxConnections(): number {
  const limits = '/proc/self/limits';
  const told = existsSync(limits)
    ? /^Max open files +(\d+)/m.exec(readFileSync(limits, 'utf8'))?.[1]
    : undefined;
  return Math.min(2000, Math.max(64, Number(told ?? 1024) - OWN_FILES));
}
