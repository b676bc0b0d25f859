import { readEnv } from '@/lib/env';
import { jsonWithEtag } from '@/lib/http/etag';
import { methodNotAllowed } from '@/lib/http/method-not-allowed';
import { openApiDocument } from '@/lib/openapi/document';

/** Public, also for tools that run in a browser of another origin. */
export async function GET(request: Request): Promise<Response> {
  const headers = { 'Cache-Control': 'no-cache', 'Access-Control-Allow-Origin': '*' };
  return jsonWithEtag(request, openApiDocument(readEnv().publicUrl), { headers });
}

export const { POST, PUT, PATCH, DELETE, OPTIONS } = methodNotAllowed('GET, HEAD');
