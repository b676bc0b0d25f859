import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, inject, test } from 'vitest';
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
import { refusal, runCommandFile, success } from '../support/command-server';
import { databaseState, disownMigrations, FOREIGN, onServer } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createCustomer } from '../support/factories';
import { temporaryFolder } from '../support/run-command';

const server = inject('postgres');
const address = server?.url ?? 'postgres://none';
const name = `w5t_own_${process.pid}`;
const url = withDatabase(address, name);

const folder = temporaryFolder();
/** The connection of a test to its own database. */
let handle: DatabaseHandle;

const create = (options = '', database = name) => onServer(address, `create database ${database} ${options}`);
const drop = (database = name) => onServer(address, `drop database ${database} with (force)`);

/** Creates a database on the server for each test, with a connection to it. */
function useOwnDatabase() {
  beforeEach(async () => {
    await create();
    handle = openPostgres(url, { max: 2 });
    return async () => {
      await handle.close();
      await drop();
    };
  });
}

describe.runIf(server)('the database of DATABASE_URL', () => {
  useOwnDatabase();
  const runOnUrl = (command: string, args: string[] = [], env: Record<string, string> = {}) =>
    runCommandFile(command, args, { DATABASE_URL: url, ...env });
  const runMigrate = (env: Record<string, string> = {}) => runOnUrl('db-migrate', [], env);
  const build = (VERCEL_ENV: string) => runOnUrl('vercel-migrate', [], { VERCEL: '1', VERCEL_ENV });

  test('migrating a database that cannot store Unicode is refused', async () => {
    await drop();
    await create(`template template0 encoding 'SQL_ASCII' locale 'C'`);
    const sentence = /^This database cannot store every name: create one with encoding 'UTF8' /;
    expect(await runMigrate()).toEqual(refusal(sentence));
    expect(await isMigrated(handle.db)).toBe(false);
  });

  test('three processes can migrate one database at the same time, and other invalid settings stop no database command', async () => {
    const wrong = { PORT: 'http', CRON_SECRET: 'short', STRIPE_SECRET_KEY: 'secret' };
    const all = await Promise.all([runMigrate(), runMigrate(wrong), runMigrate()]);
    expect(all).toEqual(Array(3).fill(success(/./)));
    expect(await isMigrated(handle.db)).toBe(true);
    const listed = await runOnUrl('token', ['list'], { CRON_SECRET: 'short' });
    expect(listed).toEqual(success('There are no access tokens yet.'));
  });

  test('db:migrate --role-limits sets the time limits of the database role', async () => {
    const migrated = await runOnUrl('db-migrate', ['--role-limits']);
    expect(migrated).toEqual(success(/up to date\.\n.* time limits .*\n$/));
    const [found] = await rows(
      handle.db,
      sql`select current_setting('statement_timeout') as a, current_setting('lock_timeout') as b,
        current_setting('idle_in_transaction_session_timeout') as c`,
    );
    expect(found).toEqual({ a: '30s', b: '10s', c: '1min' });
  });

  describe('backups of a server database', () => {
    const other = `${name}_restored`;
    let file: string;
    const backUp = (to = file, env: Record<string, string> = {}) => runOnUrl('backup', [to], env);
    const restore = (database: string) =>
      runCommandFile('restore', [file], { DATABASE_URL: withDatabase(address, database) });
    beforeEach(async () => {
      file = join(mkdtempSync(join(folder, 'backup-')), 'w5t.dump');
      await migrate(handle);
      await createCustomer(handle.db, { customer_number: 'K-KEPT' });
    });

    test('a PostgreSQL backup can be restored into an empty database only', async () => {
      const contents = `the database ${name} on \\S+ with 1 customer, 0 invoices and 0 payments\\. `;
      expect(await backUp()).toEqual(success(new RegExp(`: [\\d.]+ MB, ${contents}`)));
      expect(statSync(file).mode & 0o777).toBe(0o600);
      await create('', other);
      try {
        const restored = /^Restored 1 customer, 0 invoices and 0 payments into the database /;
        expect(await restore(other)).toEqual(success(restored));
        const sentence = /^Nothing was restored: the database \S+ on \S+ already contains tables/;
        expect(await restore(other)).toMatchObject({ code: 1, err: expect.stringMatching(sentence) });
      } finally {
        await drop(other);
      }
    });

    test('backing up an empty PostgreSQL database is refused, unlike backing up the database of a newer version', async () => {
      await handle.db.execute(
        sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', 9000000000000)`,
      );
      expect(await backUp()).toMatchObject({ code: 0, err: '' });
      await drop();
      await create();
      const sentence = /^Nothing was saved: the database \S+ on \S+ has no tables of this service\.\n$/;
      expect(await backUp(`${file}.empty`)).toEqual(refusal(sentence));
      expect(readdirSync(dirname(file))).toEqual(['w5t.dump']);
    });

    test('a backup without pg_dump is refused with the name of the missing program, and leaves no file', async () => {
      const sentence = "pg_dump was not found: install PostgreSQL's client programs.";
      expect(await backUp(file, { PATH: '/nowhere' })).toEqual(refusal(sentence));
      expect(readdirSync(dirname(file))).toEqual([]);
    });

    test('a backup accepts parameters in DATABASE_URL that pg_dump does not know', async () => {
      const more = `${url}${url.includes('?') ? '&' : '?'}channel_binding=prefer&work_mem=8MB`;
      expect(await backUp(file, { DATABASE_URL: more })).toMatchObject({ code: 0, err: '' });
    });
  });

  test('a production build on Vercel migrates the database, unlike a preview build', async () => {
    expect(await build('preview')).toMatchObject({ code: 0, out: expect.stringMatching(/was not migrated/) });
    expect(await isMigrated(handle.db)).toBe(false);
    expect(await build('production')).toMatchObject({ code: 0, out: expect.stringMatching(/up to date/) });
    expect(await isMigrated(handle.db)).toBe(true);
  });

  test('migrating without the right to create tables prints a one-sentence error', async () => {
    const user = `w5t_user_${process.pid}`;
    await onServer(address, `create role ${user} login password 'secret'`);
    const poor = new URL(url);
    poor.username = user;
    poor.password = 'secret';
    const refused = await runMigrate({ DATABASE_URL: poor.href }).finally(() =>
      onServer(address, `drop role ${user}`),
    );
    const sentence = /^The user of DATABASE_URL lacks rights in that database: .*create.*\.\n$/;
    expect(refused).toEqual(refusal(sentence));
  });

  const invalid = (hint: string) => new RegExp(`^DATABASE_URL is not a valid address: .*${hint}.*\\.\\n$`);
  const NO_SSL = /^The server .* closed the connection when SSL was requested: .*\.\n$/;
  test.each([
    ['sslmode=require but no SSL on the server', `${url}?sslmode=require`, NO_SSL],
    ['an unknown parameter', `${url}?colour=blue`, /^The server .* rejected a parameter .*\.\n$/],
    ['an unescaped %', 'postgres://a:50%@127.0.0.1:5432/b', invalid('%25')],
    ['an unescaped #', 'postgres://a:b#@127.0.0.1:5432/b', invalid('%23')],
  ])('a DATABASE_URL with %s is refused', async (_, DATABASE_URL, sentence) => {
    expect(await runMigrate({ DATABASE_URL })).toEqual(refusal(sentence));
  });

  test('a database from before the first release is refused by migrations, builds and commands, and not changed', async () => {
    await migrate(handle);
    await createCustomer(handle.db);
    await disownMigrations(handle.db);
    const before = await databaseState(handle.db);
    for (const run of [runMigrate, () => build('production'), () => runOnUrl('token', ['list'])]) {
      expect(await run()).toEqual(refusal(FOREIGN));
    }
    expect(await databaseState(handle.db)).toEqual(before);
  });
});

const world = baseRuntime({ logLevel: 'silent' });
const ACTOR = commandActor('staff');
const ERP = { name: 'ERP', scopes: [], expires_at: null, created_by: ACTOR };

describe.runIf(server)('a demo on DATABASE_URL', () => {
  useOwnDatabase();
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(folder, 'demo-'));
  });

  const refused = async () => {
    const before = await contents();
    const env = { DATABASE_URL: url, DATA_DIR: join(dataDir, 'data'), PORT: String(await freePort()) };
    const { code, err } = await runCommandFile('demo', [], env);
    expect(await contents()).toEqual(before);
    return { code, err };
  };
  /** Returns each table with its rows, and with the id of the last transaction that changed its definition. */
  const contents = () =>
    rows(
      handle.db,
      sql`select oid::regclass::text, xmin::text,
          query_to_xml(format('select t::text from %s t order by 1', oid::regclass), true, false, '')::text
        from pg_class where relkind = 'r' and (relnamespace >= 16384 or relnamespace = 'public'::regnamespace)
        order by 1`,
    );
  const prepare = () => {
    const env = parseEnv({ DATABASE_URL: url, DATA_DIR: dataDir, BETTER_AUTH_SECRET: 'x'.repeat(32) });
    const settings = readSettings(dataDir, world.randomBytes);
    return prepareDatabase({ env, settings, variables: { NODE_ENV: 'production' }, ownStripe: false });
  };

  const THINGS = 'create table things (id int); insert into things values (1)';
  const SHOP = 'create schema shop; create table shop."Order" (id int); insert into shop."Order" values (1)';
  test.each([
    ['tables of another program', THINGS, /rows .*\(in public\.things\)/],
    ['tables in another schema', SHOP, /\(in shop\."Order"\)/],
  ])('the demo refuses a database with %s', async (_, statements, sentence) => {
    await handle.db.execute(sql.raw(statements));
    expect(await refused()).toEqual({ code: 1, err: expect.stringMatching(sentence) });
  });

  const addStaff = (email: string) => addStaffUser({ ...world, db: handle.db }, { email }, ACTOR);

  test('the demo refuses a database with rows that the demo did not create', async () => {
    await migrate(handle);
    const others: [string, () => Promise<unknown>][] = [
      ['staff_users', () => addStaff('a@example.com')],
      // This is a login with the demo’s e-mail address that the demo did not create.
      ['staff_users', () => addStaff('staff@example.com')],
      ['access_tokens', () => createAccessToken(handle.db, ERP, world.randomBytes)],
      ['customers', () => createCustomer(handle.db)],
    ];
    for (const [table, make] of others) {
      await make();
      const before = await contents();
      await expect(prepare()).rejects.toThrow(/contains rows that the demo did not create/);
      expect(await contents()).toEqual(before);
      await handle.db.execute(sql.raw(`truncate ${table}, audit_log cascade`));
    }
  });

  test('the demo starts again with the database that it created, unless others added staff or valid tokens', async () => {
    await prepare();
    await prepare();
    const other = await addStaff('a@example.com');
    await expect(prepare()).rejects.toThrow(/contains staff that the demo did not create/);
    await handle.db.execute(sql`delete from staff_users where id = ${other.id}`);
    const { id } = await createAccessToken(handle.db, ERP, world.randomBytes);
    await expect(prepare()).rejects.toThrow(/contains access tokens that the demo did not create/);
    await revokeAccessToken(handle.db, id, { actor: ACTOR, now: world.now() });
    await prepare();
  });
});
