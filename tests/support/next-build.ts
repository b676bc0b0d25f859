import { execFile } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { DataDirBusyError, lockDataDir } from '@/db/lock';

const ROOT = join(import.meta.dirname, '../..');
const SOURCES = [
  'app',
  'db',
  'lib',
  'public',
  'instrumentation.ts',
  'next.config.ts',
  'package.json',
  'postcss.config.mjs',
  'proxy.ts',
  'tsconfig.json',
];
const LONGEST_BUILD_MS = 300_000;

/** Next's command and where to run it. */
export const NEXT = { bin: join(ROOT, 'node_modules/next/dist/bin/next'), cwd: ROOT };

/** What a production process starts with: nothing of the test runner's environment, no .env secrets. */
export function productionEnv(): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env;
  return { PATH, HOME, TMPDIR, NODE_ENV: 'production', NEXT_TELEMETRY_DISABLED: '1' };
}

/** Makes a production build unless there is one of the sources as they are; one build at a time. */
export async function ensureBuild(): Promise<void> {
  const unlock = await lockBuild();
  try {
    if (isFresh()) return;
    await promisify(execFile)(process.execPath, [NEXT.bin, 'build'], {
      cwd: NEXT.cwd,
      env: productionEnv(),
      timeout: LONGEST_BUILD_MS,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`next build failed\n${stdout}\n${stderr}`, { cause: error });
  } finally {
    unlock();
  }
}

async function lockBuild(): Promise<() => void> {
  for (;;) {
    try {
      return lockDataDir(join(ROOT, 'node_modules/.cache/w5t-build'));
    } catch (error) {
      if (!(error instanceof DataDirBusyError)) throw error;
      await sleep(500);
    }
  }
}

function isFresh(): boolean {
  const built = join(ROOT, '.next/BUILD_ID');
  return existsSync(built) && statSync(built).mtimeMs > Math.max(...SOURCES.map(newestIn));
}

function newestIn(name: string): number {
  const path = join(ROOT, name);
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  const below = readdirSync(path, { recursive: true, encoding: 'utf8' });
  return Math.max(stat.mtimeMs, ...below.map((entry) => statSync(join(path, entry)).mtimeMs));
}
