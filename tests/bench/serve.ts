import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleServer } from '@/lib/cli/build';
import { NEXT, productionEnv } from '../support/next-build';
import { freePort } from '../support/pooler';
import { cpuMsOf } from './measure';

const SLOWEST_START_MS = 30_000;
const POLL_MS = 5;

type Env = Record<string, string>;

export interface Served {
  url: string;
  /** Milliseconds from the start of the process to the first 200 of /api/health. */
  startMs: number;
  pid: number | undefined;
  /** Milliseconds of CPU time that the server has used. NaN on a system without /proc. */
  cpuMs(): number;
  stop(): Promise<void>;
}

/** Starts the production server of a copy of the product. */
export const serveCopy = (folder: string, databaseUrl: string, env: Env = {}) =>
  serve(['dist/server.js'], folder, { DATABASE_URL: databaseUrl, ...env });

/** Starts `next start` on the build of a copy of the product. */
export const serveNext = (folder: string, databaseUrl: string, env: Env = {}) =>
  serve([NEXT.bin, 'start'], folder, { DATABASE_URL: databaseUrl, ...env });

/** Starts a script as a server and waits until `/api/health` answers. @param file URL of the script */
export const serveScript = (file: string, databaseUrl: string, env: Env = {}) =>
  serve(['--import', 'tsx', fileURLToPath(file)], NEXT.cwd, { DATABASE_URL: databaseUrl, ...env });

/** Starts a server on a free port. */
export async function serve(command: string[], cwd: string, env: Env): Promise<Served> {
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const profiling = process.env.BENCH_PROFILE
    ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`]
    : [];
  const started = performance.now();
  const server = spawn(process.execPath, [...profiling, ...command], {
    cwd,
    env: {
      ...productionEnv(),
      BETTER_AUTH_SECRET: 'only-for-the-bench-only-for-the-bench',
      PUBLIC_URL: url,
      PORT: port,
      MCP_REQUESTS_PER_MINUTE: '0',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(server, 'exit');
  const stop = async () => {
    server.kill();
    await exited;
  };
  try {
    await untilReady(url, server);
  } catch (error) {
    await stop();
    throw error;
  }
  const startMs = performance.now() - started;
  return { url, startMs, pid: server.pid, cpuMs: () => cpuMsOf(server.pid), stop };
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const until = performance.now() + SLOWEST_START_MS;
  while (performance.now() < until) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    const answer = await fetch(`${url}/api/health`, { headers: { Connection: 'close' } }).catch(() => null);
    if (answer?.ok) return;
    await sleep(POLL_MS);
  }
  throw new Error(`the server did not answer within ${SLOWEST_START_MS} ms`);
}

/** The files and folders that a build needs. */
const SOURCES = [
  ...['app', 'db', 'lib', 'instrumentation.ts', 'next.config.ts', 'package.json'],
  ...['postcss.config.mjs', 'proxy.ts', 'tsconfig.json'],
];

/**
 * Builds a copy of the product with extra routes for comparison, which the product itself must not ship. The copy is in
 * .data, because it finds node_modules from there and Git ignores this folder.
 *
 * @param added URLs of the extra files, keyed by their path in the copy
 */
export async function buildCopy(added: Record<string, string>): Promise<{ folder: string; remove(): void }> {
  mkdirSync(join(NEXT.cwd, '.data'), { recursive: true });
  const folder = mkdtempSync(join(NEXT.cwd, '.data/bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const name of SOURCES) cpSync(join(NEXT.cwd, name), join(folder, name), { recursive: true });
  for (const [path, file] of Object.entries(added)) cpSync(new URL(file), join(folder, path));
  const { status, stdout, stderr } = spawnSync(process.execPath, [NEXT.bin, 'build'], {
    cwd: folder,
    env: productionEnv(),
    encoding: 'utf8',
  });
  if (status === 0) {
    await bundleServer(folder);
    return { folder, remove };
  }
  remove();
  throw new Error(`the build failed\n${stdout}${stderr}`);
}
