import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { ApiError } from './errors';

/** @throws ApiError 401 unless the request carries this key */
export function authorize(req: IncomingMessage, secretKey: string): void {
  const [, key] = /^Bearer (\S+)$/.exec(req.headers.authorization ?? '') ?? [];
  if (key === undefined) {
    throw new ApiError(
      401,
      "You did not provide an API key. You need to provide your API key in the Authorization header, using Bearer auth (e.g. 'Authorization: Bearer YOUR_SECRET_KEY').",
    );
  }
  if (!timingSafeEqual(hash(key), hash(secretKey))) {
    throw new ApiError(401, `Invalid API Key provided: ${key.slice(0, 8)}***`);
  }
}

/** Whether an address is that of this machine. */
export function isLoopback(address: string | undefined): boolean {
  return address === '127.0.0.1' || address === '::1' || address === '::ffff:127.0.0.1';
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
