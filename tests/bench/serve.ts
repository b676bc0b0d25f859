import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { bundleServer } from '@/lib/cli/bundle-server';
import { NEXT, productionEnv } from '../support/next-build';
import { freePort } from '../support/pooler';
import { cpuMsOf } from './measure';

const SLOWEST_START_MS = 30_000;

type Env = Record<string, string>;

export interface Served {
  url: string;
  /** Milliseconds of CPU time that it has used. NaN on a system without /proc. */
  cpuMs(): number;
  stop(): Promise<void>;
}

/** Starts the production server of a copy of the product. */
export function serveCopy(folder: string, databaseUrl: string, env: Env = {}): Promise<Served> {
  return serve(['dist/server.js'], folder, databaseUrl, env);
}

/** Starts `next start` on the same build. */
export function serveNext(folder: string, databaseUrl: string, env: Env = {}): Promise<Served> {
  return serve([NEXT.bin, 'start'], folder, databaseUrl, env);
}

/** Starts a server that is one script. It is ready when `/api/health` answers. @param file its URL */
export function serveScript(file: string, databaseUrl: string, env: Env = {}): Promise<Served> {
  return serve(['--import', 'tsx', fileURLToPath(file)], NEXT.cwd, databaseUrl, env);
}

async function serve(command: string[], cwd: string, databaseUrl: string, env: Env = {}): Promise<Served> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const profiling = process.env.BENCH_PROFILE
    ? ['--cpu-prof', `--cpu-prof-dir=${process.env.BENCH_PROFILE}`]
    : [];
  const server = spawn(process.execPath, [...profiling, ...command], {
    cwd,
    env: {
      ...productionEnv(),
      DATABASE_URL: databaseUrl,
      BETTER_AUTH_SECRET: 'only-for-the-bench-only-for-the-bench',
      PUBLIC_URL: url,
      PORT: String(port),
      MCP_REQUESTS_PER_MINUTE: '0',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const stop = async () => {
    if (server.exitCode !== null) return;
    server.kill('SIGTERM');
    await once(server, 'exit');
  };
  try {
    await untilReady(url, server);
    return { url, cpuMs: () => cpuMsOf(server.pid), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  for (let waited = 0; waited < SLOWEST_START_MS; waited += 100) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}`);
    const answer = await fetch(`${url}/api/health`).catch(() => null);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`the server did not answer within ${SLOWEST_START_MS} ms`);
}

const FOLDERS = ['app', 'db', 'lib'];
const FILES = [
  'instrumentation.ts',
  'next.config.ts',
  'package.json',
  'postcss.config.mjs',
  'proxy.ts',
  'tsconfig.json',
];

/**
 * Builds a copy of the product with extra routes for comparison, which the product itself must not ship. The copy is
 * in .data, which Git ignores, so that it finds node_modules.
 *
 * @param added URLs of the extra files, keyed by their path in the copy
 */
export async function buildCopy(added: Record<string, string>): Promise<{ folder: string; remove(): void }> {
  mkdirSync(join(NEXT.cwd, '.data'), { recursive: true });
  const folder = mkdtempSync(join(NEXT.cwd, '.data/bench-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  for (const name of [...FOLDERS, ...FILES])
    cpSync(join(NEXT.cwd, name), join(folder, name), { recursive: true });
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
