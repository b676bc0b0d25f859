import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';

/** The built server. */
export const SERVER = 'dist/server.js';

/**
 * Starts the built server as a process of its own. It says when it listens (`untilListening`), and stops
 * when its parent is gone.
 */
export function startServerProcess(env: NodeJS.ProcessEnv, args: string[] = []): ChildProcess {
  return spawn(process.execPath, [SERVER, ...args], {
    env: {
      ...env,
      NODE_ENV: 'production',
      UV_THREADPOOL_SIZE: env.UV_THREADPOOL_SIZE || threads(),
      // glibc keeps freed memory for each thread, which adds up to 60 MB.
      MALLOC_ARENA_MAX: env.MALLOC_ARENA_MAX || '2',
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

/** True once the server listens; false where it ended before. */
export function untilListening(server: ChildProcess): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('message', () => resolve(true));
    server.once('exit', () => resolve(false));
  });
}

/** Node reads it before any of our code runs. Passwords are hashed on all cores but one; files and DNS need theirs. */
function threads(): string {
  return String(availableParallelism() + 4);
}
