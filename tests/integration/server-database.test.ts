import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sql } from 'drizzle-orm';
import { afterAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type DatabaseHandle, openPostgres } from '@/db/client';
import { rows } from '@/db/database';
import { isMigrated, migrate } from '@/db/migrate';
import { commandActor } from '@/lib/audit/audit-log';
import { prepareDatabase } from '@/lib/cli/demo/prepare-database';
import { readSettings } from '@/lib/cli/demo/settings';
import { parseEnv } from '@/lib/env';
import { baseRuntime } from '@/lib/runtime';
import { addStaffUser } from '@/lib/staff/manage-staff';
import { createAccessToken, revokeAccessToken } from '@/lib/tokens/manage-access-tokens';
import { freePort } from '../e2e/support/commands';
import { runCommandFile } from '../support/command-server';
import { databaseState, disownMigrations, FOREIGN, onServer } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createCustomer } from '../support/factories';

const server = inject('postgres');
const address = server?.url ?? 'postgres://none';
const name = `w5t_own_${process.pid}`;
const url = withDatabase(address, name);

/** Creates a database on the server for each test, with a connection to it. */
function useOwnDatabase(): { readonly handle: DatabaseHandle } {
  let handle: DatabaseHandle | undefined;
  beforeEach(async () => {
    await onServer(address, `create database ${name}`);
    const opened = openPostgres(url, { max: 2 });
    handle = opened;
    return async () => {
      await opened.close();
      await onServer(address, `drop database ${name} with (force)`);
    };
  });
  return {
    get handle() {
      if (!handle) throw new Error('the database is open only inside tests');
      return handle;
    },
  };
}

describe.runIf(server)('the database of DATABASE_URL', () => {
  const own = useOwnDatabase();
  const runMigrate = (env: Record<string, string> = {}) =>
    runCommandFile('db-migrate', [], { DATABASE_URL: url, ...env });
  const build = (VERCEL_ENV: string) =>
    runCommandFile('vercel-migrate', [], { DATABASE_URL: url, VERCEL: '1', VERCEL_ENV });

  test('migrating a database that cannot store Unicode is refused', async () => {
    await onServer(address, `drop database ${name} with (force)`);
    await onServer(address, `create database ${name} template template0 encoding 'SQL_ASCII' locale 'C'`);
    const { code, err } = await runMigrate();
    expect(code).toBe(1);
    expect(err).toMatch(/^This database cannot store every name: create one with encoding 'UTF8' /);
    expect(await isMigrated(own.handle.db)).toBe(false);
  });

  test('three processes can migrate one database at the same time', async () => {
    const wrong = { PORT: 'http', CRON_SECRET: 'short', STRIPE_SECRET_KEY: 'secret' };
    const all = await Promise.all([runMigrate(), runMigrate(wrong), runMigrate()]);
    expect(all.map(({ code, err }) => [code, err])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    expect(await isMigrated(own.handle.db)).toBe(true);
    expect(await runCommandFile('token', ['list'], { DATABASE_URL: url, CRON_SECRET: 'short' })).toEqual({
      code: 0,
      out: 'There are no access tokens yet.\n',
      err: '',
    });
  });

  test('db:migrate --role-limits sets the time limits of the database role', async () => {
    expect(await runCommandFile('db-migrate', ['--role-limits'], { DATABASE_URL: url })).toEqual({
      code: 0,
      out: expect.stringMatching(/up to date\.\n.* time limits .*\n$/),
      err: '',
    });
    const [found] = await rows(
      own.handle.db,
      sql`select current_setting('statement_timeout') as a, current_setting('lock_timeout') as b,
        current_setting('idle_in_transaction_session_timeout') as c`,
    );
    expect(found).toEqual({ a: '30s', b: '10s', c: '1min' });
  });

  describe('backups of a server database', () => {
    const other = `${name}_restored`;
    const file = join(mkdtempSync(join(tmpdir(), 'w5t-backup-')), 'w5t.dump');
    const backUp = (to = file, env: Record<string, string> = {}) =>
      runCommandFile('backup', [to], { DATABASE_URL: url, ...env });
    const restore = (database: string) =>
      runCommandFile('restore', [file], { DATABASE_URL: withDatabase(address, database) });
    afterAll(() => rmSync(dirname(file), { recursive: true, force: true }));
    beforeEach(async () => {
      await migrate(own.handle);
      await createCustomer(own.handle.db, { customer_number: 'K-KEPT' });
      return () => rmSync(file, { force: true });
    });

    test('a PostgreSQL backup can be restored into an empty database', async () => {
      const saved = await backUp();
      expect(saved).toMatchObject({ code: 0, err: '' });
      expect(saved.out).toMatch(
        new RegExp(
          `: [\\d.]+ MB, the database ${name} on \\S+ with 1 customer, 0 invoices and 0 payments\\. `,
        ),
      );
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await onServer(address, `create database ${other}`);
      try {
        expect(await restore(other)).toMatchObject({
          code: 0,
          out: expect.stringMatching(/^Restored 1 customer, 0 invoices and 0 payments into the database /),
          err: '',
        });
        expect(await restore(other)).toMatchObject({
          code: 1,
          err: expect.stringMatching(
            /^Nothing was restored: the database \S+ on \S+ already contains tables/,
          ),
        });
      } finally {
        await onServer(address, `drop database ${other} with (force)`);
      }
    });

    test('a backup of an empty PostgreSQL database is refused', async () => {
      await own.handle.db.execute(
        sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', 9000000000000)`,
      );
      expect(await backUp()).toMatchObject({ code: 0, err: '' });
      await onServer(address, `drop database ${name} with (force)`);
      await onServer(address, `create database ${name}`);
      const refused = await backUp(`${file}.empty`);
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toMatch(
        /^Nothing was saved: the database \S+ on \S+ has no tables of this service\.\n$/,
      );
      expect(readdirSync(dirname(file))).toEqual(['w5t.dump']);
    });

    test('a backup without pg_dump names the missing program', async () => {
      const refused = await backUp(file, { PATH: '/nowhere' });
      expect(refused).toMatchObject({ code: 1, out: '' });
      expect(refused.err).toMatch(/^pg_dump was not found: install PostgreSQL's client programs\.\n$/);
      expect(readdirSync(dirname(file))).toEqual([]);
    });

    test('a backup accepts driver-only parameters in DATABASE_URL', async () => {
      const address = `${url}${url.includes('?') ? '&' : '?'}channel_binding=prefer&work_mem=8MB`;
      expect(await backUp(file, { DATABASE_URL: address })).toMatchObject({ code: 0, err: '' });
    });
  });

  test('a production build on Vercel migrates the database, unlike a preview build', async () => {
    expect(await build('preview')).toMatchObject({ code: 0, out: expect.stringMatching(/was not migrated/) });
    expect(await isMigrated(own.handle.db)).toBe(false);
    expect(await build('production')).toMatchObject({ code: 0, out: expect.stringMatching(/up to date/) });
    expect(await isMigrated(own.handle.db)).toBe(true);
  });

  test('migrating without the right to create tables prints a one-sentence error', async () => {
    const user = `w5t_user_${process.pid}`;
    await onServer(address, `create role ${user} login password 'secret'`);
    const poor = new URL(url);
    poor.username = user;
    poor.password = 'secret';
    expect(
      await runMigrate({ DATABASE_URL: poor.href }).finally(() => onServer(address, `drop role ${user}`)),
    ).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^The user of DATABASE_URL lacks rights in that database: .*create.*\.\n$/),
    });
  });

  test.each([
    [
      'sslmode=require but no SSL on the server',
      `${url}?sslmode=require`,
      /^The server .* closed the connection when SSL was requested: .*\.\n$/,
    ],
    ['an unknown parameter', `${url}?colour=blue`, /^The server .* rejected a parameter .*\.\n$/],
    [
      'an unescaped %',
      'postgres://a:50%@127.0.0.1:5432/b',
      /^DATABASE_URL is not a valid address: .*%25.*\.\n$/,
    ],
    [
      'an unescaped #',
      'postgres://a:b#@127.0.0.1:5432/b',
      /^DATABASE_URL is not a valid address: .*%23.*\.\n$/,
    ],
  ])('a DATABASE_URL with %s is refused', async (_, DATABASE_URL, sentence) => {
    const refused = await runMigrate({ DATABASE_URL });
    expect(refused).toEqual({ code: 1, out: '', err: expect.stringMatching(sentence) });
  });

  test('a database from before the first release is refused by every command', async () => {
    const { db } = own.handle;
    await migrate(own.handle);
    await createCustomer(db);
    await disownMigrations(db);
    const before = await databaseState(db);
    const refused = { code: 1, out: '', err: `${FOREIGN}\n` };
    expect(await runMigrate()).toEqual(refused);
    expect(await build('production')).toEqual(refused);
    expect(await runCommandFile('token', ['list'], { DATABASE_URL: url })).toEqual(refused);
    expect(await databaseState(db)).toEqual(before);
  });
});

const world = baseRuntime({ logLevel: 'silent' });
const ACTOR = commandActor('staff');
const ERP = { name: 'ERP', scopes: [], expires_at: null, created_by: ACTOR };

describe.runIf(server)('a demo on DATABASE_URL', () => {
  const own = useOwnDatabase();
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'w5t-demo-'));
    return () => rmSync(folder, { recursive: true, force: true });
  });

  const refusal = async () => {
    const before = await contents();
    const { code, err } = await runCommandFile('demo', [], {
      DATABASE_URL: url,
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
    });
    expect(await contents()).toEqual(before);
    return { code, err };
  };
  /** Returns each table with its rows, and with the id of the last transaction that changed its definition. */
  const contents = () =>
    rows(
      own.handle.db,
      sql`select oid::regclass::text, xmin::text,
          query_to_xml(format('select t::text from %s t order by 1', oid::regclass), true, false, '')::text
        from pg_class where relkind = 'r' and (relnamespace >= 16384 or relnamespace = 'public'::regnamespace)
        order by 1`,
    );
  const prepare = () => {
    const env = parseEnv({ DATABASE_URL: url, DATA_DIR: folder, BETTER_AUTH_SECRET: 'x'.repeat(32) });
    const settings = readSettings(folder, world.randomBytes);
    return prepareDatabase({ env, settings, variables: { NODE_ENV: 'production' }, ownStripe: false });
  };

  test.each([
    [
      'tables of another program',
      'create table things (id int); insert into things values (1)',
      /rows .*\(in public\.things\)/,
    ],
    [
      'tables in another schema',
      'create schema shop; create table shop."Order" (id int); insert into shop."Order" values (1)',
      /\(in shop\."Order"\)/,
    ],
  ])('the demo refuses a database with %s', async (_, statements, sentence) => {
    await own.handle.db.execute(sql.raw(statements));
    expect(await refusal()).toEqual({ code: 1, err: expect.stringMatching(sentence) });
  });

  test('the demo refuses a database with rows that the demo did not create', async () => {
    await migrate(own.handle);
    const others: [string, () => Promise<unknown>][] = [
      ['staff_users', () => addStaffUser({ ...world, db: own.handle.db }, { email: 'a@example.com' }, ACTOR)],
      // This is a login with the demo’s e-mail address that the demo did not create.
      [
        'staff_users',
        () => addStaffUser({ ...world, db: own.handle.db }, { email: 'staff@example.com' }, ACTOR),
      ],
      ['access_tokens', () => createAccessToken(own.handle.db, ERP, world.randomBytes)],
      ['customers', () => createCustomer(own.handle.db)],
    ];
    for (const [table, make] of others) {
      await make();
      const before = await contents();
      await expect(prepare()).rejects.toThrow(/contains rows that the demo did not create/);
      expect(await contents()).toEqual(before);
      await own.handle.db.execute(sql.raw(`truncate ${table}, audit_log cascade`));
    }
  });

  test('the demo can start again with the database that it created', async () => {
    await prepare();
    await prepare();
    const other = await addStaffUser({ ...world, db: own.handle.db }, { email: 'a@example.com' }, ACTOR);
    await expect(prepare()).rejects.toThrow(/contains staff that the demo did not create/);
    await own.handle.db.execute(sql`delete from staff_users where id = ${other.id}`);
    const { id } = await createAccessToken(own.handle.db, ERP, world.randomBytes);
    await expect(prepare()).rejects.toThrow(/contains access tokens that the demo did not create/);
    await revokeAccessToken(own.handle.db, id, { actor: ACTOR, now: world.now() });
    await prepare();
  });
});
