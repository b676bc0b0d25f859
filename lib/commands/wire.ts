import type { Socket } from 'node:net';
import { z } from 'zod';

/** Maximum number of UTF-16 units in a line, in either direction. A request with a password needs far fewer. */
export const MAX_LINE = 262_144;
/** Maximum number of UTF-16 units in the text piped into a command. */
export const MAX_INPUT = 65_536;

/** Schema of the request: the only line that a command's process sends. */
export const commandRequest = z.strictObject({
  command: z.string().max(100),
  // An import may have two arguments for each of its file's columns. MAX_LINE limits all of them together.
  args: z.array(z.string().max(10_000)).max(1000),
  input: z.string().max(MAX_INPUT).optional(),
  user: z.string().max(200).nullable(),
  isTTY: z.boolean(),
  cwd: z.string().max(5_000).optional(),
});
export type CommandRequest = z.infer<typeof commandRequest>;

/** Schema of the server's messages: a line for stdout, text for stderr, and finally the exit code. */
export const commandMessage = z.union([
  z.strictObject({ out: z.string() }),
  z.strictObject({ err: z.string() }),
  z.strictObject({ exit: z.int().min(0).max(255) }),
]);
export type CommandMessage = z.infer<typeof commandMessage>;

/**
 * Reads the first line and discards the rest.
 *
 * @throws Error if the line is longer than MAX_LINE, or if the other side disconnects before the line ends
 */
export function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const onData = (chunk: string) => {
      text += chunk;
      const end = text.indexOf('\n');
      if (end < 0 && text.length <= MAX_LINE) return;
      socket.off('data', onData).resume();
      if (end < 0 || end > MAX_LINE) reject(new Error('The line is too long.'));
      else resolve(text.slice(0, end));
    };
    socket.setEncoding('utf8').on('data', onData);
    socket.once('close', () => reject(new Error('The line is incomplete.')));
  });
}

/** Reads lines until the other side disconnects. @throws Error if a line is longer than MAX_LINE */
export async function* linesOf(socket: Socket): AsyncGenerator<string> {
  socket.setEncoding('utf8');
  let rest = '';
  for await (const chunk of socket as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    if ([rest, ...lines].some((line) => line.length > MAX_LINE)) throw new Error('A line is too long.');
    yield* lines;
  }
}
