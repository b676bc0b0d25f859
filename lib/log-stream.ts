import { write, writeSync } from 'node:fs';
import { perProcess } from '@/db/per-process';

/** Bytes that wait for a slow reader or for room on the disk. While more wait, new lines are dropped. */
const MOST_WAITING = 1_000_000;
const RETRY_MS = 100;
const MOST_TRIES_AT_EXIT = 20;

/**
 * Writes log lines to stdout. pino's own stream ends the process when the disk of the log is full, and while it exits
 * it waits for room without end. A line that finds no room is written with the next one instead.
 */
class LogStream {
  private waiting = Buffer.alloc(0);
  private isWriting = false;

  constructor(private readonly fd: number) {
    process.on('exit', () => this.writeRest());
  }

  write(line: string): void {
    if (this.waiting.length < MOST_WAITING) this.waiting = Buffer.concat([this.waiting, Buffer.from(line)]);
    if (!this.isWriting) this.writeNext();
  }

  private writeNext(): void {
    this.isWriting = true;
    write(this.fd, this.waiting, (error, written) => {
      this.isWriting = false;
      if (error && !isBusy(error)) return;
      this.waiting = this.waiting.subarray(written);
      if (error) setTimeout(() => this.write(''), RETRY_MS);
      else if (this.waiting.length > 0) this.writeNext();
    });
  }

  /** A line that is being written may be written twice: the process ends before that is known. */
  private writeRest(): void {
    for (let tries = 0; this.waiting.length > 0 && tries < MOST_TRIES_AT_EXIT; tries += 1) {
      try {
        this.waiting = this.waiting.subarray(writeSync(this.fd, this.waiting));
      } catch (error) {
        if (!isBusy(error)) return; // no room, or the reader is gone
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_MS);
      }
    }
  }
}

/** True for a pipe whose reader is slow. */
const isBusy = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EAGAIN';

/** The stream of this process's log. Undefined if something has replaced stdout's own: pino then writes to that. */
export function logStream(): Pick<LogStream, 'write'> | undefined {
  const { stdout } = process;
  if (stdout.write !== stdout.constructor.prototype.write) return undefined;
  return perProcess('log-stream', () => new LogStream(1));
}
