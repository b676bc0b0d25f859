/**
 * mcp-handler answers the 2025 protocols with a stream of events that holds one message: takes it out.
 * Anything else stays as it is.
 */
export async function toPlainJson(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream')) return response;
  const message = (await response.text())
    .split('\n')
    .findLast((line) => line.startsWith('data: {'))
    ?.slice('data: '.length);
  if (message === undefined) throw new Error('the stream of events ended without a message');
  return new Response(message, {
    status: response.status,
    headers: { 'Content-Type': 'application/json' },
  });
}
