import pino, { type Logger as PinoLogger } from 'pino';

export type Logger = PinoLogger;

/** JSON lines on stdout. Never give it a request body, a token, or a driver's error message. */
export function createLogger(level: string): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime });
}
