import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { NEXT, productionEnv } from '../support/next-build';
import { cpuMsOf } from './cpu';
import { freePort } from './free-port';

const SLOWEST_START_MS = 30_000;

type Env = Record<string, string>;

export interface Served {
  url: string;
  /** Milliseconds of a processor that it has used; NaN where there is no /proc. */
  cpuMs(): number;
  stop(): Promise<void>;
}

/** The production server of a copy of the product. */
export function serveCopy(folder: string, databaseUrl: string, env: Env = {}): Promise<Served> {
  return serve(['dist/server.js'], folder, databaseUrl, env);
}

/** The same build without a server of ours around it. */
export function serveNext(folder: string, databaseUrl: string, env: Env = {}): Promise<Served> {
  return serve([NEXT.bin, 'start'], folder, databaseUrl, env);
}

/** A server written in one file, by its address; `/api/health` says that it is ready. */
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
