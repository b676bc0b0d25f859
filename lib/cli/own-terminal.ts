import { once } from 'node:events';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Terminal } from '../commands/command';
import { MAX_INPUT } from '../commands/wire';
import { StartError } from '../errors';
import { fileProblem } from '../file-problem';
import { inheritedEnv } from '../inherited-env';
import { STOP_SIGNALS } from './stop-signals';

interface Wants {
  takesInput: boolean;
  stopsInOrder: boolean;
}

/**
 * The terminal of this process.
 *
 * @returns also what says whether everything that was printed could be: a reader that went away is no error
 */
export async function ownTerminal({ takesInput, stopsInOrder }: Wants): Promise<{
  terminal: Terminal;
  requirePrinted(): void;
}> {
  const stop = new AbortController();
  let failed: unknown;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') failed = error;
    stop.abort();
  });
  if (stopsInOrder) for (const signal of STOP_SIGNALS) process.on(signal, () => endOrWait(stop, signal));
  const terminal: Terminal = {
    input: takesInput ? await pipedText() : undefined,
    user: inheritedEnv().USER ?? null,
    print: (line) => process.stdout.write(`${line}\n`),
    progress: { isTTY: process.stderr.isTTY === true, write: (part) => process.stderr.write(part) },
    cwd: process.cwd(),
    signal: stop.signal,
    drained: async () => {
      if (process.stdout.writableNeedDrain)
        await once(process.stdout, 'drain', { signal: stop.signal }).catch(() => {});
    },
  };
  const requirePrinted = () => {
    if (failed) throw fileProblem(failed, 'The output');
  };
  return { terminal, requirePrinted };
}

/** @returns the typed answer, empty if the process must stop; null without a terminal */
export async function askTerminal(question: string, signal: AbortSignal): Promise<string | null> {
  if (!process.stdin.isTTY) return null;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  asking.once('SIGINT', () => asking.close()); // a terminal in this mode sends no signal to the process
  try {
    return await new Promise<string | null>((resolve) => {
      asking.once('close', () => resolve(''));
      signal.addEventListener('abort', () => resolve(''));
      asking.question(question, resolve);
    });
  } finally {
    asking.close();
  }
}

/** Who asks a second time does not want to wait. */
function endOrWait(stop: AbortController, signal: (typeof STOP_SIGNALS)[number]): void {
  if (stop.signal.aborted) process.exit(128 + constants.signals[signal]);
  stop.abort();
}

async function pipedText(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const piped = await text(process.stdin);
  if (piped.length > MAX_INPUT) throw new StartError(['What was piped in is too long.']);
  return piped || undefined;
}
