import { afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { type DatabaseHandle, openPostgres } from '@/db/client';
import { migrate } from '@/db/migrate';
import { disownMigrations, FOREIGN, onServer } from '../support/database';
import { withDatabase } from '../support/database-url';
import { ensureBuild, NEXT, START } from '../support/next-build';
import { temporaryFolder } from '../support/run-command';
import { type Command, freePort, runToEnd, startCommand, startUntil } from './support/commands';

const NOT_MIGRATED = 'The database of DATABASE_URL is not migrated: run npm run db:migrate first.';

const postgres = inject('postgres');
describe.runIf(postgres)('a server on PostgreSQL', () => {
  const address = postgres?.url ?? 'postgres://none';
  const name = `w5t_start_${process.pid}`;
  const env = { DATABASE_URL: withDatabase(address, name), BETTER_AUTH_SECRET: 'x'.repeat(32) };
  const folder = temporaryFolder();
  /** The test's connection to a new, empty database. */
  let database: DatabaseHandle;
  let servers: Command[];

  beforeAll(() => ensureBuild(), 400_000);
  beforeEach(async () => {
    await onServer(address, `create database ${name}`);
    database = openPostgres(env.DATABASE_URL, { max: 1 });
    servers = [];
  });
  afterEach(async () => {
    for (const { child } of servers) child.kill('SIGTERM');
    for (const { exited } of servers) await exited;
    await database.close();
    await onServer(address, `drop database ${name} with (force)`);
  });

  const newEnv = async () => ({ ...env, DATA_DIR: folder, PORT: String(await freePort()) });
  const urlOf = ({ PORT }: { PORT: string }) => `http://127.0.0.1:${PORT}`;
  const refusal = async (...args: string[]) => {
    const { code, output } = await runToEnd([process.execPath, START, ...args], await newEnv());
    return { code, lines: output.trim().split('\n') };
  };
  async function start(...args: string[]): Promise<string> {
    const given = await newEnv();
    servers.push(await startUntil(/Listening/, [process.execPath, START, ...args], given));
    return urlOf(given);
  }

  test('npm start refuses a database that is not migrated', async () => {
    expect(await refusal()).toEqual({ code: 1, lines: [NOT_MIGRATED] });
  });

  test('npm start refuses a database whose migrations predate the first release, even with --migrate', async () => {
    await migrate(database);
    await disownMigrations(database.db);
    expect(await refusal()).toEqual({ code: 1, lines: [FOREIGN] });
    expect(await refusal('--migrate')).toEqual({ code: 1, lines: [FOREIGN] });
  });

  test('two servers started at once with --migrate both become healthy', async () => {
    for (const url of await Promise.all([start('--migrate'), start('--migrate')])) {
      expect((await fetch(`${url}/api/health`)).status).toBe(200);
    }
  }, 90_000);

  test('a Vercel function answers 503 until its database is migrated', async () => {
    const given = await newEnv();
    const url = `http://localhost:${given.PORT}`;
    const variables = { ...given, VERCEL: '1', PUBLIC_URL: url, CRON_SECRET: 'x'.repeat(16) };
    servers.push(startCommand([process.execPath, NEXT.bin, 'start', '-p', given.PORT], variables));
    const get = (path: string) => fetch(`${url}${path}`);
    await vi.waitFor(() => get('/api/health'), { timeout: 60_000, interval: 200 });
    const api = await get('/api/w5t/payments');
    expect([api.status, await api.json()]).toEqual([503, expect.objectContaining({ detail: NOT_MIGRATED })]);
    for (const path of ['/sign-in', '/admin?after=sign-in']) {
      const page = await get(path);
      expect([page.status, await page.text()]).toEqual([503, expect.stringContaining(NOT_MIGRATED)]);
    }
    const health = await get('/api/health');
    const behind = expect.objectContaining({ database: 'not_migrated' });
    expect([health.status, await health.json()]).toEqual([503, behind]);

    await migrate(database);
    expect((await get('/api/w5t/payments')).status).toBe(401);
    expect((await get('/sign-in')).status).toBe(200);
    expect((await get('/unavailable')).url).toMatch(/\/sign-in\?next=/);
    expect((await get('/api/health')).status).toBe(200);
  }, 120_000);
});
