import type { Duplex } from 'node:stream';
import type { SlowBodies } from './slow-bodies';
import type { Traffic } from './traffic';

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Node's own answer if no listener handles these errors. */
const ANSWERS: Record<string, string> = {
  [TIMEOUT]: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
};

/** Ends a connection whose request is malformed or takes too long. Only a slow body may continue. */
export function createErrorListener(slow: SlowBodies, traffic: Traffic) {
  return (error: NodeJS.ErrnoException, socket: Duplex): void => {
    const { code = '' } = error;
    if (code === TIMEOUT && slow.has(socket)) return;
    if (socket.writable && !traffic.hasBegunAnswer(socket)) {
      socket.write(`HTTP/1.1 ${ANSWERS[code] ?? '400 Bad Request'}\r\nConnection: close\r\n\r\n`);
    }
    socket.destroy(error);
  };
}
