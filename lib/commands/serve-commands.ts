import { once } from 'node:events';
import { chmodSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { nameSocket } from '@/db/lock';
import { StartError } from '../errors';
import { stackOf } from '../log';
import type { Runtime } from '../runtime';
import type { Terminal } from './command';
import { COMMANDS, isCommandName } from './commands';
import { openCopy } from './open-copy';
import { sentencesOf } from './sentences-of';
import { newSocketPath } from './socket-path';
import { type CommandMessage, type CommandRequest, commandRequest, readLine } from './wire';

const MAX_AT_ONCE = 4;
/** How long a request may take to arrive. */
const REQUEST_MS = 10_000;

/**
 * Runs commands of other processes while this one has the embedded database. Only the owner of the data directory can
 * connect. A command whose caller disconnects runs to its end, like any transaction. If the server stops while a command
 * runs, the connection ends without an exit code.
 *
 * @returns a function that stops accepting commands and waits for running ones; the end of the process does so too
 */
export async function serveCommands(runtime: Runtime): Promise<() => Promise<void>> {
  let running = 0;
  const server = createServer((socket) => {
    running += 1;
    converse(runtime, socket, running > MAX_AT_ONCE)
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
    // The server works without.
    runtime.log.warn({ code: (error as NodeJS.ErrnoException).code }, 'commands cannot be taken');
    return async () => {};
  }
}

async function listen(server: Server, path: string): Promise<void> {
  server.unref();
  const listening = new Promise<void>((done, failed) => {
    server.on('error', failed); // stays: what cannot be accepted later must not end the server
    server.once('listening', done);
  });
  const mask = process.umask(0o177); // the socket is created at once, before another process can take its path
  server.listen(path);
  process.umask(mask);
  await listening;
  if (process.platform !== 'win32') chmodSync(path, 0o600);
}

async function converse(runtime: Runtime, socket: Socket, isBusy: boolean): Promise<void> {
  socket.on('error', () => {}); // a caller that disconnected gets no answer
  socket.setTimeout(REQUEST_MS, () => socket.destroy());
  const send = (message: CommandMessage) => socket.writable && socket.write(`${JSON.stringify(message)}\n`);
  try {
    if (isBusy) throw new StartError(['The server is carrying out other commands: try again in a moment.']);
    const request = await readRequest(socket);
    socket.setTimeout(0);
    send({ exit: await carryOut(runtime, request, send, hangUpOf(socket)) });
  } catch (error) {
    for (const sentence of sentencesOf(error)) send({ err: `${sentence}\n` });
    send({ exit: 1 });
  }
}

/** A caller that disconnects stops its command, if it `stopsInOrder`. */
function hangUpOf(socket: Socket): Pick<Terminal, 'signal' | 'drained'> {
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

async function carryOut(
  runtime: Runtime,
  { command: name, args, input, user, isTTY, cwd = process.cwd() }: CommandRequest,
  send: (message: CommandMessage) => void,
  { signal, drained }: Pick<Terminal, 'signal' | 'drained'>,
): Promise<number> {
  if (!isCommandName(name)) throw new StartError([`The server does not know the command ${name}.`]);
  const command = COMMANDS[name];
  const wanted = command.read(args);
  const progress = { isTTY, write: (text: string) => send({ err: text }) };
  const print = (line: string) => send({ out: line });
  const terminal: Terminal = { input, user, progress, print, cwd, signal, drained };
  const scratch = command.isDryRun?.(wanted) ? await openCopy(runtime) : null;
  try {
    return await command.run(wanted, scratch ?? runtime, terminal);
  } finally {
    await scratch?.close();
    runtime.log.info({ command: name }, 'command');
  }
}
