import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';

const NEXT = createRequire(import.meta.url).resolve('next/dist/bin/next');

/** Runs a command of Next.js as a process of its own, without npm or a shell between. */
export function startNext(
  args: string[],
  options: { env: NodeJS.ProcessEnv; stdio?: 'inherit' | 'pipe' },
): ChildProcess {
  const { env, stdio = 'inherit' } = options;
  return spawn(process.execPath, [NEXT, ...args], { env, stdio: ['ignore', stdio, stdio] });
}
