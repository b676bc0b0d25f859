import type { PaymentWriter } from './write-payment';

/** A payment written by a program that holds an access token. */
export function apiWriter(
  { now, env }: { now(): Date; env: { timeZone: string } },
  token: { id: number; name: string },
): PaymentWriter {
  return {
    actor: { type: 'token', id: String(token.id), name: token.name },
    source: 'api',
    now: now(),
    timeZone: env.timeZone,
  };
}
