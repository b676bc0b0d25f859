import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { HttpRequest } from '../../http/request';

/** A request as our handlers read it, without the copies that a `Request` would make of it. */
export class IncomingRequest implements HttpRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHeaders;
  readonly body: AsyncIterable<Uint8Array> | null;
  private aborting: AbortController | undefined;

  constructor(
    request: IncomingMessage,
    private readonly response: ServerResponse,
  ) {
    this.method = request.method ?? 'GET';
    this.url = `http://localhost${request.url}`;
    this.headers = new IncomingHeaders(request.headers);
    this.body = this.method === 'GET' || this.method === 'HEAD' ? null : request;
  }

  get signal(): AbortSignal {
    this.aborting ??= abortedWith(this.response);
    return this.aborting.signal;
  }
}

class IncomingHeaders {
  constructor(private readonly headers: IncomingHttpHeaders) {}

  get(name: string): string | null {
    return this.headers[name.toLowerCase()]?.toString() ?? null;
  }

  *[Symbol.iterator](): Iterator<[string, string]> {
    for (const [name, value] of Object.entries(this.headers)) yield [name, String(value)];
  }
}

/** Aborts if the client leaves before its answer is complete. */
export function abortedWith(response: ServerResponse): AbortController {
  const aborting = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) aborting.abort();
  });
  return aborting;
}
