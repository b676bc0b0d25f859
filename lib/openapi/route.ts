import { readEnv } from '../env';
import { jsonWithEtag } from '../http/etag';
import { methodNotAllowed } from '../http/method-not-allowed';
import type { HttpRequest, Route } from '../http/request';
import { openApiDocument } from './document';

/** `/api/openapi.json` */
export const openApiRoute: Route = { ...methodNotAllowed('GET, HEAD'), GET: describe, HEAD: describe };

/** Public, also for tools that run in a browser of another origin. */
async function describe(request: HttpRequest): Promise<Response> {
  const headers = { 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' };
  return jsonWithEtag(request, openApiDocument(readEnv().publicUrl), { headers });
}
