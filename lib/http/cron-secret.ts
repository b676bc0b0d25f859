import { createHash, timingSafeEqual } from 'node:crypto';
import type { Env } from '../env';
import type { HttpRequest } from './request';

/** Whether a request bears CRON_SECRET; never where none is set. */
export function bearsCronSecret({ cronSecret }: Env, request: HttpRequest): boolean {
  if (!cronSecret) return false;
  const borne = /^bearer +(.+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? '';
  return timingSafeEqual(digest(borne), digest(cronSecret));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
