import type { IncomingMessage, ServerResponse } from 'node:http';

const DRAINED_BYTES = 2_097_152;
const DRAINED_MS = 1000;

/**
 * Answers a request without reading it, and closes its connection. A sender that is cut off while sending
 * sees a reset and no answer: what it sends is dropped for a while before that.
 */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  text: string,
): void {
  response.writeHead(status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'X-Content-Type-Options': 'nosniff',
    Connection: 'close',
  });
  response.write(text);
  let size = 0;
  const end = () => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DRAINED_MS);
  request.on('data', (chunk: Buffer) => {
    size += chunk.byteLength;
    if (size > DRAINED_BYTES) end();
  });
  request.once('end', end);
  response.once('close', end);
}
