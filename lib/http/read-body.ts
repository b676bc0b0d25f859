import { AppError } from '../errors';
import type { HttpRequest } from './request';

/** The largest body that any route reads: 1 MiB. */
export const MAX_BODY_BYTES = 1_048_576;

// A sender that is cut off while sending sees a reset and no answer: read on a while, keeping nothing.
const DRAINED = 8;

/**
 * Reads a body to the byte, counting while it reads, so that a false Content-Length buys nothing.
 *
 * @throws AppError payload_too_large; malformed_json when its sender hangs up
 */
export async function readBody(
  { body }: Pick<HttpRequest, 'body'>,
  limit = MAX_BODY_BYTES,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size <= limit) chunks.push(chunk);
      if (size > limit * DRAINED) break;
    }
  } catch {
    throw new AppError('malformed_json', 'The body broke off.');
  }
  if (size > limit) throw new AppError('payload_too_large', `The body is larger than ${limit} bytes.`);
  return Buffer.concat(chunks);
}

/**
 * The JSON of a body.
 *
 * @throws AppError malformed_json for text that is not UTF-8 or not JSON
 */
export function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new AppError('malformed_json', 'The body is not valid JSON.');
  }
}
