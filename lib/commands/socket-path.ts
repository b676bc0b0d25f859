import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const NAME = 'commands.sock';
/** Bytes that the address of a socket may have: sun_path without its final zero. */
const MAX_BYTES = process.platform === 'linux' ? 107 : 103;

/**
 * Where a server takes commands: in its data directory, or, where that is too long for the address of a
 * socket, in a new folder of the temporary one that is its owner's alone.
 *
 * @returns also what takes it away again
 */
export function newSocketPath(dataDir: string): { path: string; remove(): void } {
  if (process.platform === 'win32') {
    return { path: `\\\\.\\pipe\\w5t-${process.pid}`, remove: () => {} };
  }
  const near = join(resolve(dataDir), NAME);
  if (Buffer.byteLength(near) <= MAX_BYTES) {
    const remove = () => rmSync(near, { force: true });
    remove(); // of a server that was killed: the lock says that it is gone
    return { path: near, remove };
  }
  const path = join(mkdtempSync(join(tmpdir(), 'w5t-')), NAME);
  return { path, remove: () => rmSync(dirname(path), { recursive: true, force: true }) };
}
