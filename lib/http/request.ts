/**
 * What our handlers read of a request. A `Request` is one; that of our own server is another, which costs a
 * fraction to make.
 */
export interface HttpRequest {
  readonly method: string;
  /** Absolute; of its host nothing can be said. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get'> & Iterable<[string, string]>;
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
}

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
export type Method = (typeof METHODS)[number];

export type Params = Record<string, string>;
export type Handler = (
  request: HttpRequest,
  context: { params: Promise<Params> },
) => Response | Promise<Response>;

/** The handlers of an address: what a route file exports, and what our server's table holds. */
export type Route = Record<Method, Handler>;
