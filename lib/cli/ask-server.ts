import { connect, type Socket } from 'node:net';
import type { Terminal } from '../commands/command';
import { type CommandRequest, commandMessage, linesOf } from '../commands/wire';
import { StartError } from '../errors';

const STOPPED = 'Stopped: the server ends what it is at, and keeps it; the same command again does the rest.';

/**
 * Lets a running server run a command, and prints its answer.
 *
 * @returns the exit code; null if no server listens
 * @throws StartError if the server may not be asked, or stops before it has answered
 */
export async function askServer(
  path: string,
  request: Pick<CommandRequest, 'command' | 'args'>,
  { input, user, progress, print, cwd, signal, drained }: Terminal,
): Promise<number | null> {
  const socket = await open(path);
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
    // As with an end without an exit code, it is unknown how far the command got.
  } finally {
    socket.destroy();
  }
  if (signal.aborted) throw new StartError([STOPPED]);
  throw new StartError([
    'The server stopped before the command had ended: look whether it was carried out, and try again.',
  ]);
}

async function open(path: string): Promise<Socket | null> {
  const socket = connect(path);
  try {
    await new Promise<void>((done, failed) => {
      socket.once('error', failed);
      socket.once('connect', done);
    });
    return socket;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ECONNREFUSED') return null;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    throw new StartError(['The running server takes commands of its own user only: run this as that user.']);
  }
}
