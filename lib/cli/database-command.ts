import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, type Terminal, UNCONFIRMED } from '../commands/command';
import { COMMANDS, isCommandName } from '../commands/commands';
import { isFromStripe } from '../commands/import';
import { type CommandRequest, commandMessage, linesOf, MAX_INPUT } from '../commands/wire';
import { readEnv } from '../env';
import { fileProblem, StartError } from '../errors';
import { inheritedEnv } from '../inherited-env';
import { DatabaseBusyError } from '../open-database';
import { createRuntime } from '../runtime';
import { STOP_SIGNALS } from './child-process';

/** Milliseconds to wait while a process that accepts no commands, such as another command, has the database open. */
const PATIENCE_MS = 60_000;
const MAX_TRIES = 10;

/**
 * Runs a command in this process, or in the server that has the embedded database open.
 *
 * @param argv name of the npm script, then the arguments
 * @throws StartError, AppError, HelpRequested
 */
export async function runDatabaseCommand([script = '', ...args]: string[]): Promise<void> {
  const name = script === 'import' && isFromStripe(args) ? 'import stripe' : script;
  if (!isCommandName(name)) throw new StartError([`There is no command ${name}.`]);
  const command: Command = COMMANDS[name];
  const commandInput = command.read(args);
  const { terminal, requirePrinted } = await createTerminal({
    takesInput: command.takesInput?.(commandInput) ?? false,
    stopsInOrder: command.stopsInOrder?.(commandInput) ?? false,
  });
  const runWithRetries = async (all: string[]): Promise<number> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await runHere(command, command.read(all), terminal);
      } catch (error) {
        if (!(error instanceof DatabaseBusyError) || !error.socket) throw error;
        const code = await askServer(error.socket, { command: name, args: all }, terminal);
        if (code === 0) requireVisible(command.writes?.(command.read(all)));
        if (code !== null) return code;
        if (tries === MAX_TRIES) throw error;
        await sleep(500); // The server is stopping, and will release the database soon.
      }
    }
  };
  const code = await runWithRetries(args);
  process.exitCode =
    code === UNCONFIRMED && command.question
      ? await confirmAndRun(command.question, terminal, () => runWithRetries([...args, '--yes']))
      : code;
  requirePrinted();
}

/** Throws if this process cannot see what a server wrote. systemd can give a server its own view of the folders. */
function requireVisible(path: string | undefined): void {
  if (path === undefined || existsSync(path)) return;
  throw new StartError([
    `The server wrote ${path} where other programs cannot see it: name a folder that it shares with them, not /tmp.`,
  ]);
}

/** Calls `run` if the user confirms at the terminal. A script must pass `--yes` instead. */
async function confirmAndRun(
  question: string,
  { print, signal }: Terminal,
  run: () => Promise<number>,
): Promise<number> {
  const answer = await askTerminal(question, signal);
  if (answer !== null && /^y(es)?$/i.test(answer.trim())) return run();
  print(
    answer === null
      ? 'Nothing was written: add --yes to write without confirmation.'
      : 'Nothing was written.',
  );
  return 1;
}

async function runHere(command: Command, commandInput: unknown, terminal: Terminal): Promise<number> {
  const env = readEnv(command.variables);
  const code = (await command.runUnopened?.(commandInput, env, terminal)) ?? null;
  if (code !== null) return code;
  await command.prepare?.(env);
  const runtime = await createRuntime(env, {
    scratch: command.isDryRun?.(commandInput) ?? false,
    patience: PATIENCE_MS,
    onWait: ({ pid }) =>
      terminal.progress.write(`Waiting for process ${pid}, which has the embedded database open …\n`),
  });
  try {
    return await command.run(commandInput, runtime, terminal);
  } finally {
    await runtime.close();
  }
}

const STOPPED =
  'Stopped: the server finishes its current step and keeps the result. Run the same command again to do the rest.';

/**
 * Runs a command in a running server, and prints the output.
 *
 * @returns the exit code; null if no server listens
 * @throws StartError if this user may not connect, or if the server or the user stops before the command has ended
 */
export async function askServer(
  path: string,
  request: Pick<CommandRequest, 'command' | 'args'>,
  { input, user, progress, print, cwd, signal, drained }: Terminal,
): Promise<number | null> {
  const socket = await connectTo(path);
  if (!socket) return null;
  const asked: CommandRequest = { ...request, user, isTTY: progress.isTTY, cwd, ...(input && { input }) };
  socket.write(`${JSON.stringify(asked)}\n`);
  signal.addEventListener('abort', () => socket.destroy());
  try {
    for await (const line of linesOf(socket)) {
      const message = commandMessage.parse(JSON.parse(line));
      if ('exit' in message) return message.exit;
      if ('out' in message) print(message.out);
      else progress.write(message.err);
      await drained();
    }
  } catch {
    // A broken connection is handled like one that ends without an exit code: the command's result is unknown.
  } finally {
    socket.destroy();
  }
  if (signal.aborted) throw new StartError([STOPPED]);
  throw new StartError([
    'The server stopped before the command ended: check what the command has done, then try again.',
  ]);
}

async function connectTo(path: string): Promise<Socket | null> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return socket;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    throw new StartError([
      'The running server accepts commands only from the user that it runs as: run this command as that user.',
    ]);
  }
}

/**
 * Creates the terminal of this process.
 *
 * @returns the terminal, and a function that throws if output could not be written; a closed pipe is not an error
 */
async function createTerminal({ takesInput, stopsInOrder }: { takesInput: boolean; stopsInOrder: boolean }) {
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

/** Asks a question. @returns the typed answer; '' if the process must stop; null if stdin is not a terminal */
async function askTerminal(question: string, signal: AbortSignal): Promise<string | null> {
  if (!process.stdin.isTTY) return null;
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  // In raw mode, readline turns Ctrl-C into this event instead of a signal.
  asking.once('SIGINT', () => asking.close());
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

/** At the first signal, asks the command to stop. A second signal ends the process immediately. */
function endOrWait(stop: AbortController, signal: (typeof STOP_SIGNALS)[number]): void {
  if (stop.signal.aborted) process.exit(128 + constants.signals[signal]);
  stop.abort();
}

async function pipedText(): Promise<string | undefined> {
  if (process.stdin.isTTY) return undefined;
  const piped = await text(process.stdin);
  if (piped.length > MAX_INPUT) throw new StartError(['The piped input is too long.']);
  return piped || undefined;
}
