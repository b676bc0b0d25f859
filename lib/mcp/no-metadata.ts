import type { HttpRequest } from '../http/request';

const HEADERS = { 'Access-Control-Allow-Origin': '*', 'Cache-Control': 'no-store' };

/**
 * There is no authorization server to discover. Clients that look for one read JSON alone: a page of
 * HTML under 404 makes them give up.
 */
export async function answerNoMetadata(request: HttpRequest): Promise<Response> {
  const answer = Response.json(
    { error: 'not_found', error_description: 'Access tokens are issued by the staff, not over OAuth.' },
    { status: 404, headers: HEADERS },
  );
  return request.method === 'HEAD' ? new Response(null, answer) : answer;
}
