import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '@/db/database';
import { SERVER } from '@/lib/cli/child-process';
import { ensureBuild, NEXT, productionEnv } from '../../support/next-build';
import { freePort } from './commands';
import { zoneOfNoon } from './company';
import { createDatabase, type SiteDatabase } from './site-database';

export interface Site {
  url: string;
  /** Returns the whole output of the server. */
  log(): string;
  /** Reads the database while the server is idle. */
  inspect<T>(look: (db: Database) => Promise<T>): Promise<T>;
  /** Restarts the server. `write` runs while it is down. */
  restart(write?: (db: Database) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

const SLOWEST_START_MS = 120_000;

/** More than the time for which a stopping server waits for its open requests. */
const SLOWEST_STOP_MS = 16_000;

/**
 * Starts a production server on a free port and on a new database.
 *
 * @param fill function that writes the data of the tests before the server starts, because only one process at a time
 *   can open an embedded database
 */
export async function openSite(fill: (db: Database) => Promise<void>): Promise<Site> {
  const dataDir = mkdtempSync(join(tmpdir(), 'w5t-e2e-'));
  return startSite(dataDir, await createDatabase(dataDir, fill));
}

/** Starts a production server on a filled database. Closing the site deletes the database and `dataDir`. */
export async function startSite(
  dataDir: string,
  base: SiteDatabase,
  env: Record<string, string> = {},
): Promise<Site> {
  await ensureBuild();
  const timeZone = zoneOfNoon(new Date());
  const port = await freePort();
  const url = `http://localhost:${port}`;
  let log = '';
  const start = async () => {
    // The IPC channel lets the server stop when its parent ends for any reason.
    const started = spawn(process.execPath, [SERVER], {
      cwd: NEXT.cwd,
      env: {
        ...productionEnv(),
        DATA_DIR: dataDir,
        PORT: String(port),
        PUBLIC_URL: url,
        APP_TIMEZONE: timeZone,
        ...base.env,
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [started.stdout, started.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        log += chunk.toString();
      });
    }
    try {
      await untilReady(url, started);
    } catch (error) {
      await stop(started);
      throw new Error(`the server did not start\n${log}`, { cause: error });
    }
    return started;
  };
  const drop = async () => {
    await base.drop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  let server = await start().catch(async (error: unknown) => {
    await drop();
    throw error;
  });
  return {
    url,
    log: () => log,
    inspect: base.look,
    async restart(write) {
      await stop(server);
      if (write) await base.write(write);
      server = await start();
    },
    async close() {
      await stop(server);
      await drop();
    },
  };
}

async function untilReady(url: string, server: ChildProcess): Promise<void> {
  const limit = AbortSignal.timeout(SLOWEST_START_MS);
  while (!limit.aborted) {
    if (server.exitCode !== null) throw new Error(`exit code ${server.exitCode}`);
    const answer = await fetch(`${url}/sign-in`, { signal: limit }).catch(() => null);
    if (answer?.ok) return;
    await sleep(100);
  }
  throw new Error(`no answer within ${SLOWEST_START_MS} ms`);
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((done) => server.once('exit', done));
  server.kill('SIGTERM');
  const timer = setTimeout(() => server.kill('SIGKILL'), SLOWEST_STOP_MS);
  await ended;
  clearTimeout(timer);
}
