import type { IncomingMessage, ServerResponse } from 'node:http';

const DRAINED_BYTES = 2_097_152;
/** How long a refused client may read the answer before the connection ends. */
export const LINGER_MS = 1000;

/**
 * Answers a request without keeping its body, and closes its connection. A sender that is cut off while
 * sending sees a reset and no answer: it gets a moment to read before that.
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
  response.write(text); // its whole length: the answer is there before it ends
  const timer = setTimeout(() => response.end(), LINGER_MS);
  response.once('close', () => clearTimeout(timer));
  request.once('end', () => response.end());
  let dropped = 0;
  request.on('data', (chunk: Buffer) => {
    dropped += chunk.byteLength;
    if (dropped > DRAINED_BYTES) request.pause();
  });
}
