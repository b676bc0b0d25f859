import { existsSync, readFileSync } from 'node:fs';

/** Number of open files to reserve for the database, its connections and Next. */
const OWN_FILES = 192;

/** Limits on client connections and requests. Times are in milliseconds, sizes in bytes. */
export const LIMITS = {
  /** Maximum body size of a page or server action request. API routes and `/mcp` set their own limits. */
  pageBody: 131_072,
  /**
   * Maximum body size of a form on a staff page. An edited invoice with the most lines (500, each with 500 letters of
   * three bytes) has 3.4 MB, because its texts are sent four times: as fields, as the record that the form opened with,
   * and twice in React's state.
   */
  formBody: 4_194_304,
  /** Maximum number of concurrent forms larger than `pageBody`, in total and per client. */
  largeForms: 16,
  largeFormsOfClient: 4,
  /** Maximum time from the start of the connection, or from the request's first byte, to the end of the headers. */
  headersMs: 15_000,
  /** Maximum time from the start of a request to the end of its body. */
  requestMs: 30_000,
  /** Maximum time from the headers of a staff upload to the end of its response. Enough for 200 MB at 2 Mbit/s. */
  uploadMs: 900_000,
  /** Interval at which the server checks `headersMs` and `requestMs`. */
  checkMs: 1000,
  /** Maximum time that a client may leave its response unread. */
  unreadMs: 60_000,
  /** Time that a refused client has to read the response before the connection closes. */
  lingerMs: 1000,
  /**
   * Time that an idle connection stays open after a response. Caddy keeps its connections to the server for 120 seconds,
   * and nginx for 60. If the server closed one first, a request sent at that moment would fail with 502.
   */
  keepAliveMs: 125_000,
  /** Maximum time that open requests may delay the server's stop. */
  stopMs: 6000,
  headerBytes: 16_384,
  headers: 200,
  /** Maximum number of pipelined requests on a connection that wait for an earlier response. */
  sentAhead: 16,
  /** Maximum number of concurrent pages and API requests in Next, in total and per client. Further requests wait. */
  pagesAtOnce: 4,
  pagesOfClient: 3,
  routesAtOnce: 16,
  routesOfClient: 12,
  /** Maximum number of waiting pages and API requests, in total and per client, and the maximum wait. */
  pagesWaiting: 512,
  pagesWaitingOfClient: 256,
  pagePatienceMs: 10_000,
  /** Time after which a request that Next is still handling no longer counts towards the limits on concurrency. */
  pagePlaceMs: 2000,
  connections: maxConnections(),
};

export type Limits = typeof LIMITS;

/**
 * Returns the limit of open files minus `OWN_FILES`, but at least 64 and at most 2,000. Assumes a limit of 1,024 if
 * /proc is not available or contains no number.
 */
function maxConnections(): number {
  const limits = '/proc/self/limits';
  const openFiles = existsSync(limits)
    ? /^Max open files +(\d+)/m.exec(readFileSync(limits, 'utf8'))?.[1]
    : undefined;
  return Math.min(2000, Math.max(64, Number(openFiles ?? 1024) - OWN_FILES));
}
