import { perProcess } from '@/db/per-process';
import type { Runtime } from '@/lib/runtime';
import { RPC, rpcError } from '../answers';
import type { Caller } from '../caller';

const MINUTE_MS = 60_000;
/** An app has as many people as it has; all of them together may ask so many times as often as one. */
const OF_CLIENT = 5;

const counted = perProcess('mcp-rate', () => ({ minute: 0, requests: new Map<string, number>() }));

/** Counts a request within this process. @returns 429 where a token, or an app with all its people, asks too often */
export function checkRate({ env, now }: Pick<Runtime, 'env' | 'now'>, caller: Caller): Response | null {
  const most = env.mcpRequestsPerMinute;
  if (most === 0) return null;
  const at = now().getTime();
  const minute = Math.floor(at / MINUTE_MS);
  if (minute !== counted.minute) {
    counted.minute = minute;
    counted.requests.clear();
  }
  const isOver =
    countOne(caller.key) > most || (caller.clientId !== null && countOne(caller.clientId) > most * OF_CLIENT);
  if (!isOver) return null;
  const seconds = Math.ceil(((minute + 1) * MINUTE_MS - at) / 1000);
  return rpcError(429, RPC.refused, `Too many requests. Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

function countOne(key: string): number {
  const count = (counted.requests.get(key) ?? 0) + 1;
  counted.requests.set(key, count);
  return count;
}
