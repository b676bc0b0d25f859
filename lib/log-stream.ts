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
    const piece = this.waiting;
    this.waiting = Buffer.alloc(0);
    this.isWriting = true;
    write(this.fd, piece, (error, written) => {
      this.isWriting = false;
      this.waiting = Buffer.concat([error ? piece : piece.subarray(written), this.waiting]);
      if (error && isBusy(error)) setTimeout(() => this.write(''), RETRY_MS);
      else if (!error && this.waiting.length > 0) this.writeNext();
    });
  }

  /** What is being written is left out: that write goes on while the process ends. */
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
