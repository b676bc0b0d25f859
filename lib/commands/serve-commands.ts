import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { nameSocket } from '@/db/lock';
import { perProcess } from '@/db/per-process';
import { StartError } from '../errors';
import { stackOf } from '../log';
import type { Runtime } from '../runtime';
import { sentencesOf, type Terminal } from './command';
import { COMMANDS, isCommandName } from './commands';
import { type CommandMessage, type CommandRequest, commandRequest, readLine } from './wire';

const MAX_AT_ONCE = 4;
/** Maximum pause in milliseconds while a caller sends its request. */
const REQUEST_MS = 10_000;

/**
 * Runs commands of other processes while this process has the embedded database open. Only processes of the same user
 * can connect. If a caller disconnects, only a command with `stopsInOrder` stops. If the server stops while a
 * command runs, the connection ends without an exit code.
 *
 * @returns a function that stops accepting commands, waits for running ones and removes the socket; the end of the
 *   process removes the socket too
 */
export async function serveCommands(runtime: Runtime): Promise<() => Promise<void>> {
  let running = 0;
  const server = createServer((socket) => {
    running += 1;
    handleConnection(runtime, socket, running > MAX_AT_ONCE)
      .catch((error: unknown) => runtime.log.error({ stack: stackOf(error) }, 'command failed'))
      .finally(() => {
        running -= 1;
        socket.end();
      });
  });
  try {
    const { path, remove } = newSocketPath(runtime.env.dataDir);
    process.once('exit', remove);
    await listen(server, path);
    nameSocket(runtime.env.dataDir, path);
    return async () => {
      await new Promise((done) => server.close(done));
      process.off('exit', remove);
      remove();
    };
  } catch (error) {
    // Do not fail, because the server also works without this socket.
    runtime.log.warn({ code: (error as NodeJS.ErrnoException).code }, 'cannot accept commands');
    return async () => {};
  }
}

async function listen(server: Server, path: string): Promise<void> {
  server.unref();
  const listening = new Promise<void>((done, failed) => {
    server.on('error', failed); // Keep an error listener. Otherwise a later error would end the process.
    server.once('listening', done);
  });
  const mask = process.umask(0o177); // `listen` creates the socket synchronously, with these permissions.
  server.listen(path);
  process.umask(mask);
  await listening;
  if (process.platform !== 'win32') chmodSync(path, 0o600);
}

async function handleConnection(runtime: Runtime, socket: Socket, isBusy: boolean): Promise<void> {
  socket.on('error', () => {}); // Ignore the error, because the caller has disconnected.
  socket.setTimeout(REQUEST_MS, () => socket.destroy());
  const send = (message: CommandMessage) => socket.writable && socket.write(`${JSON.stringify(message)}\n`);
  try {
    if (isBusy) throw new StartError(['The server is running other commands: try again in a moment.']);
    const request = await readRequest(socket);
    socket.setTimeout(0);
    send({ exit: await runRequest(runtime, request, send, watchConnection(socket)) });
  } catch (error) {
    for (const sentence of sentencesOf(error)) send({ err: `${sentence}\n` });
    send({ exit: 1 });
  }
}

/** Returns a signal, aborted when the caller disconnects, and a function that waits until the output is sent. */
function watchConnection(socket: Socket): Pick<Terminal, 'signal' | 'drained'> {
  const stop = new AbortController();
  const { signal } = stop;
  socket.once('close', () => stop.abort());
  if (socket.destroyed) stop.abort();
  const drained = async () => {
    if (socket.writableNeedDrain) await once(socket, 'drain', { signal }).catch(() => {});
  };
  return { signal, drained };
}

async function readRequest(socket: Socket): Promise<CommandRequest> {
  try {
    return commandRequest.parse(JSON.parse(await readLine(socket)));
  } catch {
    throw new StartError(['The server does not understand this command: restart it with this version.']);
  }
}

async function runRequest(
  runtime: Runtime,
  { command: name, args, input, user, isTTY, cwd = process.cwd() }: CommandRequest,
  send: (message: CommandMessage) => void,
  { signal, drained }: Pick<Terminal, 'signal' | 'drained'>,
): Promise<number> {
  if (!isCommandName(name)) throw new StartError([`The server does not know the command ${name}.`]);
  const command = COMMANDS[name];
  const commandInput = command.read(args);
  const progress = { isTTY, write: (text: string) => send({ err: text }) };
  const print = (line: string) => send({ out: line });
  const terminal: Terminal = { input, user, progress, print, cwd, signal, drained };
  const scratch = command.isDryRun?.(commandInput) ? await openCopy(runtime) : null;
  try {
    return await command.run(commandInput, scratch ?? runtime, terminal);
  } finally {
    await scratch?.close();
    runtime.log.info({ command: name }, 'command');
  }
}

const copy = perProcess('copy', () => ({ isOpen: false }));

/** Opens a runtime on an in-memory copy of the database, for dry runs. To save memory, only one is open at a time. */
async function openCopy(runtime: Runtime): Promise<Runtime> {
  if (copy.isOpen)
    throw new StartError(['The server is already running a dry run: try again when it has ended.']);
  if (!runtime.copyDatabase) throw new Error('only an embedded database can be copied');
  copy.isOpen = true;
  try {
    const { db, close } = await runtime.copyDatabase();
    return { ...runtime, db, close: () => close().finally(() => (copy.isOpen = false)) };
  } catch (error) {
    copy.isOpen = false;
    throw error;
  }
}

const NAME = 'commands.sock';
/** Maximum length of a socket's path in bytes: `sun_path` without its final zero byte. */
const MAX_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * Chooses the path of the socket that takes commands: a named pipe on Windows, otherwise a file in the data directory.
 * If that path is too long for a socket, the file is in a new temporary folder that only its owner can open.
 *
 * @returns the path, and a function that removes the socket
 */
function newSocketPath(dataDir: string): { path: string; remove(): void } {
  if (process.platform === 'win32') {
    return { path: `\\\\.\\pipe\\w5t-${process.pid}`, remove: () => {} };
  }
  const near = join(resolve(dataDir), NAME);
  if (Buffer.byteLength(near) <= MAX_BYTES) {
    const remove = () => rmSync(near, { force: true });
    // A killed server may have left a socket. No other server uses it, because this process holds the database's lock.
    remove();
    return { path: near, remove };
  }
  const path = join(mkdtempSync(join(tmpdir(), 'w5t-')), NAME);
  return { path, remove: () => rmSync(dirname(path), { recursive: true, force: true }) };
}
