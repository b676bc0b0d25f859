import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { FIXED_HEADERS } from '../../http/fixed-headers';

/** Below it a header costs more than compressing saves. */
const COMPRESSED_BYTES = 1024;
const FAST_LEVEL = 1;
const fixed = Object.entries(FIXED_HEADERS);
const compress = promisify(gzip);

/** Sends an answer as Next would, compressed if the client accepts it. */
export async function sendResponse(
  request: IncomingMessage,
  answer: Response,
  response: ServerResponse,
): Promise<void> {
  response.statusCode = answer.status;
  for (const [name, value] of fixed) response.setHeader(name, value);
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  if (request.method === 'HEAD' || answer.body === null) return void response.end();
  let bytes = Buffer.from(await answer.arrayBuffer());
  if (bytes.byteLength >= COMPRESSED_BYTES) {
    response.appendHeader('Vary', 'Accept-Encoding');
    if (takesGzip(request.headers['accept-encoding'])) {
      response.setHeader('Content-Encoding', 'gzip');
      bytes = await compress(bytes, { level: FAST_LEVEL });
    }
  }
  response.write(bytes); // and not with end(): in chunks, as Next sends it
  response.end();
}

function takesGzip(accepted = ''): boolean {
  return accepted.split(',').some((coding) => /^\s*gzip\s*(;\s*q=(0\.\d*[1-9]|1).*)?$/i.test(coding));
}
