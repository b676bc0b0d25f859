import { writeSync } from 'node:fs';
import pino, { type LogFn, type Logger as PinoLogger } from 'pino';
import { perProcess } from '@/db/per-process';

export type Logger = PinoLogger;

/** Creates a logger of JSON lines on stdout. Never log a request body, a token, or a driver's error message. */
export function createLogger(level: string): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    hooks: logHooks(),
  };
  const stream = logStream();
  return stream ? pino(options, stream) : pino(options);
}

/** Returns pino's hooks, which limit the number of lines and escape control characters. */
export const logHooks = () => ({ logMethod: limitLines, streamWrite: escapeControls });

/** Returns the first frames of an error's stack, without its message. */
export function stackOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  return error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, 8)
    .join('\n');
}

/** Maximum number of lines per second with the same message. Further lines are only counted. */
const LINES_A_SECOND = 20;
const WARN = 40;

const lineCounts = perProcess('log-lines', () => new Map<string, number>());

/** Limits warnings and errors, because any client can cause them. Lower levels are not limited. */
function limitLines(this: PinoLogger, given: Parameters<LogFn>, write: LogFn, level: number): void {
  if (level < WARN) {
    write.apply(this, given);
    return;
  }
  const message = String(given.find((one) => typeof one === 'string') ?? '');
  const lines = (lineCounts.get(message) ?? 0) + 1;
  lineCounts.set(message, lines);
  if (lines === 1) setTimeout(() => logDropped(this, message), 1000).unref();
  if (lines <= LINES_A_SECOND) write.apply(this, given);
}

function logDropped(log: PinoLogger, message: string): void {
  const dropped = (lineCounts.get(message) ?? 0) - LINES_A_SECOND;
  lineCounts.delete(message);
  if (dropped > 0) log.warn({ dropped, message }, 'lines were left out of the log');
}

// Control characters that JSON does not escape, line separators, and marks that reverse the direction of text.
const CONTROLS = /[\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Escapes the characters of a JSON line that a terminal would run as commands, or that would rearrange its text. */
const escapeControls = (line: string): string =>
  line.replace(CONTROLS, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Maximum number of bytes that wait for a slow reader or a full disk. Above it, new lines are dropped. */
const MAX_WAITING_BYTES = 1_000_000;
const RETRY_MS = 100;
const MAX_TRIES_AT_EXIT = 20;

/**
 * Writes log lines to stdout in order. pino's own stream ends the process if the disk is full, and waits forever for
 * space at exit. This stream keeps bytes that it cannot write, and retries later.
 */
class LogStream {
  private waiting = Buffer.alloc(0);
  private retry: NodeJS.Timeout | undefined;

  constructor(private readonly fd: number) {
    process.on('exit', () => this.writeRest());
  }

  write(line: string): void {
    if (this.waiting.length < MAX_WAITING_BYTES)
      this.waiting = Buffer.concat([this.waiting, Buffer.from(line)]);
    this.retry ??= this.writeWaiting() ? undefined : setTimeout(() => this.tryAgain(), RETRY_MS).unref();
  }

  private tryAgain(): void {
    this.retry = undefined;
    this.write('');
  }

  /**
   * Writes the waiting bytes.
   *
   * @returns false if the reader is slow, so that the rest must be written later
   */
  private writeWaiting(): boolean {
    try {
      while (this.waiting.length > 0) this.waiting = this.waiting.subarray(writeSync(this.fd, this.waiting));
    } catch (error) {
      return !isBusy(error); // The disk is full or the pipe's reader has exited. The next line retries.
    }
    return true;
  }

  private writeRest(): void {
    for (let tries = 0; !this.writeWaiting() && tries < MAX_TRIES_AT_EXIT; tries += 1) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
    }
  }
}

/** Returns whether an error means that the pipe's reader is slow. */
const isBusy = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

/**
 * Returns this process's log stream. Returns undefined if `stdout.write` was replaced. In this case, pino uses the
 * replacement.
 */
function logStream(): Pick<LogStream, 'write'> | undefined {
  const { stdout } = process;
  if (stdout.write !== stdout.constructor.prototype.write) return undefined;
  return perProcess('log-stream', () => new LogStream(1));
}
