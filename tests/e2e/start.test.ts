import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import { openPostgres } from '@/db/client';
import { migrate } from '@/db/migrate';
import { disownMigrations, FOREIGN } from '../support/database';
import { withDatabase } from '../support/database-url';
import { ensureBuild, START } from '../support/next-build';
import { freePort, pressCtrlC, runToEnd, startCommand } from './support/commands';
import { UNPATCHED, unpatchedDriver } from './support/unpatched-driver';

const SECRET = 'x'.repeat(32);
const NOT_MIGRATED = 'The database of DATABASE_URL is not migrated: run npm run db:migrate first.';

describe('npm start says what is wrong, in sentences, and exits with 1', () => {
  let folder: string;

  beforeAll(async () => {
    await ensureBuild();
    folder = mkdtempSync(join(tmpdir(), 'w5t-start-'));
  }, 400_000);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (env: Record<string, string>, args: string[] = []) => {
    const { code, output } = await runToEnd(['npm', 'run', '-s', 'start', ...args], {
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
      ...env,
    });
    return { code, lines: output.trim().split('\n') };
  };

  test('wrong variables: one each', async () => {
    expect(await start({ PORT: 'http', STRIPE_SECRET_KEY: 'secret', CRON_SECRET: 'short' })).toEqual({
      code: 1,
      lines: [
        expect.stringMatching(/^PORT must be/),
        expect.stringMatching(/^STRIPE_SECRET_KEY must start/),
        expect.stringMatching(/^CRON_SECRET must have/),
      ],
    });
  });

  test('an option that it does not have', async () => {
    const { code, output } = await runToEnd(['npm', '-s', 'start', '--', '--migrat']);
    expect([code, output]).toEqual([1, "Unknown option '--migrat': --help shows what there is.\n"]);
  });

  test('an option that npm has kept', async () => {
    const { code, output } = await runToEnd(['npm', '-s', 'start', '--migrate']);
    const sentence = 'npm took --migrate for an option of its own: write npm start -- --migrate.';
    expect([code, output.trim().split('\n').at(-1)]).toEqual([1, sentence]);
  });

  test('a port in use', async () => {
    const server = createServer().listen(0);
    const { port } = server.address() as AddressInfo;
    expect(await start({ PORT: String(port) })).toEqual({
      code: 1,
      lines: [`Port ${port} is in use: stop the program that uses it or set PORT.`],
    });
    server.close();
  });

  test('no build', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [START], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([
      1,
      '',
      'There is no production build: run npm run build first.\n',
    ]);
  });

  test('a HOST of another machine', async () => {
    expect(await start({ HOST: '192.0.2.77' })).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^HOST 192\.0\.2\.77 is no address of this machine \(E\w+\): set HOST/)],
    });
  });

  test('a DATA_DIR that cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await start({ DATA_DIR: join(folder, 'file/data') })).toEqual({
      code: 1,
      lines: [expect.stringMatching(/^DATA_DIR .* cannot be written: give another folder/)],
    });
  });

  test('a database that does not answer', async () => {
    const address = { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c', BETTER_AUTH_SECRET: SECRET };
    expect(await start(address)).toEqual({
      code: 1,
      lines: ['The database of DATABASE_URL does not answer: start it, or correct its address.'],
    });
  });

  test('a driver of PostgreSQL that lacks its patch', async () => {
    const address = { DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c', BETTER_AUTH_SECRET: SECRET };
    expect(await start({ ...address, ...unpatchedDriver(folder) })).toEqual({ code: 1, lines: [UNPATCHED] });
  });

  const server = inject('postgres');
  describe.runIf(server)('a server database', () => {
    const name = `w5t_start_${process.pid}`;
    const address = server?.url ?? 'postgres://none';
    const env = { DATABASE_URL: withDatabase(address, name), BETTER_AUTH_SECRET: SECRET };

    beforeEach(async () => {
      const admin = openPostgres(address, { max: 1 });
      await admin.db.execute(sql.raw(`create database ${name}`));
      return async () => {
        await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
        await admin.close();
      };
    });

    test('that is not migrated', async () => {
      expect(await start(env)).toEqual({ code: 1, lines: [NOT_MIGRATED] });
    });

    test('from before the first release, which --migrate does not mend', async () => {
      const handle = openPostgres(env.DATABASE_URL, { max: 1 });
      await migrate(handle);
      await disownMigrations(handle.db);
      await handle.close();
      expect(await start(env)).toEqual({ code: 1, lines: [FOREIGN] });
      expect(await start(env, ['--', '--migrate'])).toEqual({ code: 1, lines: [FOREIGN] });
    });

    test('--migrate brings it to this version first, whoever else does so at once', async () => {
      const ports = [await freePort(), await freePort()];
      const started = ports.map((port) =>
        startCommand(['npm', 'start', '--', '--migrate'], { ...env, DATA_DIR: folder, PORT: String(port) }),
      );
      for (const [index, port] of ports.entries()) {
        const health = () => fetch(`http://127.0.0.1:${port}/api/health`);
        await vi.waitFor(async () => expect((await health()).status).toBe(200), { timeout: 60_000 });
        expect(started[index]?.output()).toMatch(/Listening on/);
      }
      started.forEach(pressCtrlC);
      await Promise.all(started.map(({ exited }) => exited));
    }, 90_000);
  });
});
