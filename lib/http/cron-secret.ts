import { createHash, timingSafeEqual } from 'node:crypto';
import type { Env } from '../env';

/** Whether a request bears CRON_SECRET; never where none is set. */
export function bearsCronSecret({ cronSecret }: Env, request: Request): boolean {
  if (!cronSecret) return false;
  return timingSafeEqual(digest(request.headers.get('authorization') ?? ''), digest(`Bearer ${cronSecret}`));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
