import type { Duplex } from 'node:stream';
import type { SlowBodies } from './slow-bodies';
import type { Traffic } from './traffic';

const TIMEOUT = 'ERR_HTTP_REQUEST_TIMEOUT';

/** As Node answers by itself where nobody listens for these errors. */
const ANSWERS: Record<string, string> = {
  [TIMEOUT]: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  HPE_CHUNK_EXTENSIONS_OVERFLOW: '413 Payload Too Large',
};

/** What becomes of a connection whose request is none, or takes too long: only a slow body may go on. */
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
