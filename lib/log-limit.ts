import type { LogFn, Logger } from 'pino';
import { perProcess } from '@/db/per-process';

/** Lines of one message that are written within a second; the rest is counted. */
const LINES_A_SECOND = 20;
const WARN = 40;

const counted = perProcess('log-lines', () => new Map<string, number>());

/**
 * A hook of pino that limits warnings and errors, because strangers can cause them. Only permitted actions cause
 * other lines.
 */
export function limitLines(this: Logger, given: Parameters<LogFn>, write: LogFn, level: number): void {
  if (level < WARN) {
    write.apply(this, given);
    return;
  }
  const message = String(given.find((one) => typeof one === 'string') ?? '');
  const lines = (counted.get(message) ?? 0) + 1;
  counted.set(message, lines);
  if (lines === 1) setTimeout(() => tellRest(this, message), 1000).unref();
  if (lines <= LINES_A_SECOND) write.apply(this, given);
}

function tellRest(log: Logger, message: string): void {
  const dropped = (counted.get(message) ?? 0) - LINES_A_SECOND;
  counted.delete(message);
  if (dropped > 0) log.warn({ dropped, message }, 'lines were left out of the log');
}
