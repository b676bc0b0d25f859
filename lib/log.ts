import pino, { type Logger as PinoLogger } from 'pino';
import { limitLines } from './log-limit';
import { logStream } from './log-stream';

export type Logger = PinoLogger;

/** JSON lines on stdout. Never give it a request body, a token, or a driver's error message. */
export function createLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: { logMethod: limitLines },
  };
  const stream = logStream();
  return stream ? pino(options, stream) : pino(options);
}

/** Where it happened, without the message. */
export function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .join('\n');
}
