import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { NEXT, productionEnv, START } from '../../support/next-build';

const LOOK_MS = 5;
const SLOWEST_START_MS = 30_000;
const SLOWEST_END_MS = 15_000;

/** What `npm start` runs: a process and the server that it starts. */
export interface Product {
  port: number;
  /** Milliseconds from its start to its first 200 of /api/health. */
  startMs: number;
  /** The server's process number. */
  serverPid: number;
  /** Sends the first process a signal and waits until both are gone. @returns its exit code, null after SIGKILL */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** @throws where it does not answer in time, with what it wrote */
export async function startProduct(port: number, env: Record<string, string>): Promise<Product> {
  const started = performance.now();
  const parent = spawn(process.execPath, [START], {
    cwd: NEXT.cwd,
    env: {
      ...productionEnv(),
      BETTER_AUTH_SECRET: 'only-for-the-bench-only-for-the-bench',
      LOG_LEVEL: 'error',
      PORT: String(port),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let written = '';
  for (const stream of [parent.stdout, parent.stderr]) stream.on('data', (data) => (written += data));
  const exited = once(parent, 'exit');
  try {
    await untilAnswered(port, parent);
  } catch (error) {
    parent.kill('SIGTERM');
    await exited;
    throw new Error(`the product did not start\n${written}`, { cause: error });
  }
  const startMs = performance.now() - started;
  const serverPid = Number(readFileSync(`/proc/${parent.pid}/task/${parent.pid}/children`, 'utf8').trim());
  return {
    port,
    startMs,
    serverPid,
    async end(signal) {
      parent.kill(signal);
      const [code] = await exited;
      // After SIGTERM the first process waits for the server; without one the server ends by itself.
      if (signal === 'SIGKILL') await untilGone(serverPid);
      return code;
    },
  };
}

export const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

async function untilGone(pid: number): Promise<void> {
  const until = performance.now() + SLOWEST_END_MS;
  while (isAlive(pid) && performance.now() < until) await sleep(LOOK_MS);
}

async function untilAnswered(port: number, parent: ChildProcess): Promise<void> {
  const until = performance.now() + SLOWEST_START_MS;
  while (performance.now() < until) {
    if (parent.exitCode !== null) throw new Error(`it ended with ${parent.exitCode}`);
    if ((await askHealth(port)) === 200) return;
    await sleep(LOOK_MS);
  }
  throw new Error(`no answer within ${SLOWEST_START_MS} ms`);
}

/** @returns the status; undefined where nobody answers */
function askHealth(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const sent = request({ agent: false, host: '127.0.0.1', port, path: '/api/health' }, (response) => {
      response.resume();
      response.once('close', () => resolve(response.statusCode));
    });
    sent.once('error', () => resolve(undefined));
    sent.end();
  });
}
