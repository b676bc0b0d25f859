import { createHash } from 'node:crypto';
import type { HttpRequest } from './request';

/** A strong validator (RFC 9110, 8.8.3): the same bytes of JSON, the same tag. */
export function etagOf(body: unknown): string {
  return `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url')}"`;
}

/**
 * Whether a list of tags (`If-Match`, `If-None-Match`) holds one; `*` holds any. A `W/` prefix is passed
 * over: proxies that compress add it to tags which were strong.
 */
export function holdsEtag(header: string, etag: string): boolean {
  return header.trim() === '*' || [...header.matchAll(/"[^"]*"/g)].some(([tag]) => tag === etag);
}

/** JSON with its tag, or 304 where the caller has it already. */
export function jsonWithEtag(request: HttpRequest, body: unknown, init: ResponseInit = {}): Response {
  const etag = etagOf(body);
  const known = request.headers.get('if-none-match');
  if (['GET', 'HEAD'].includes(request.method) && known && holdsEtag(known, etag)) {
    return new Response(null, { status: 304, headers: { ETag: etag } });
  }
  const headers = new Headers(init.headers);
  headers.set('ETag', etag);
  return Response.json(body, { ...init, headers });
}

/**
 * The condition of `If-Match` and `If-None-Match` on the state that a write would replace (null: the resource does not
 * exist). Undefined if there is no condition. RFC 9110, 13.1
 */
export function preconditionOf({ headers }: HttpRequest): ((current: unknown) => boolean) | undefined {
  const wanted = headers.get('if-match');
  const unwanted = headers.get('if-none-match');
  if (wanted === null && unwanted === null) return undefined;
  return (current) => {
    if (current === null) return wanted === null;
    const etag = etagOf(current);
    return holdsEtag(wanted ?? '*', etag) && !holdsEtag(unwanted ?? '', etag);
  };
}
