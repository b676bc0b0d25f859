/** What a client may take: of time in milliseconds, of size in bytes. */
export const LIMITS = {
  /** Of a page's request, server actions included: forms. The API's doors limit what they read themselves. */
  pageBody: 262_144,
  /** From the connection, or the request's first byte, to the end of its headers. */
  headersMs: 15_000,
  /** To the end of its body, however it trickles. */
  requestMs: 30_000,
  /** How often the two are looked at. */
  checkMs: 1000,
  headerBytes: 16_384,
  headerCount: 200,
  requestsPerConnection: 10_000,
} as const;
