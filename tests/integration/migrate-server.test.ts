import { sql } from 'drizzle-orm';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { openPostgres } from '@/db/client';
import { rows } from '@/db/database';
import { isMigrated } from '@/db/migrate';
import { runCommandFile } from '../support/command-server';
import { withDatabase } from '../support/database-url';

const server = inject('postgres');

describe.runIf(server)('the database of DATABASE_URL', () => {
  const name = `w5t_migrate_${process.pid}`;
  const user = `w5t_user_${process.pid}`;
  const address = server?.url ?? 'postgres://none';
  const url = withDatabase(address, name);

  beforeEach(async () => {
    const admin = openPostgres(address, { max: 1 });
    await admin.db.execute(sql.raw(`create database ${name}`));
    return async () => {
      await admin.db.execute(sql.raw(`drop database ${name} with (force)`));
      await admin.db.execute(sql.raw(`drop role if exists ${user}`));
      await admin.close();
    };
  });

  const hasSchema = async () => {
    const { db, close } = openPostgres(url, { max: 1 });
    const migrated = await isMigrated(db);
    await close();
    return migrated;
  };
  const migrate = (env: Record<string, string> = {}) =>
    runCommandFile('db-migrate', [], { DATABASE_URL: url, ...env });
  const build = (VERCEL_ENV: string) =>
    runCommandFile('vercel-migrate', [], { DATABASE_URL: url, VERCEL: '1', VERCEL_ENV });

  test('is refused, as it is, where it does not hold Unicode', async () => {
    const admin = openPostgres(address, { max: 1 });
    await admin.db.execute(sql.raw(`drop database ${name}`));
    await admin.db.execute(
      sql.raw(`create database ${name} template template0 encoding 'SQL_ASCII' locale 'C'`),
    );
    await admin.close();
    const { code, err } = await migrate();
    expect(code).toBe(1);
    expect(err).toMatch(/^This database cannot hold every name: make one with encoding 'UTF8' /);
    expect(await hasSchema()).toBe(false);
  });

  test('is migrated by several at once, whatever other variables say', async () => {
    const wrong = { PORT: 'http', CRON_SECRET: 'short', STRIPE_SECRET_KEY: 'secret' };
    const all = await Promise.all([migrate(), migrate(wrong), migrate()]);
    expect(all.map(({ code, err }) => [code, err])).toEqual([
      [0, ''],
      [0, ''],
      [0, ''],
    ]);
    expect(await hasSchema()).toBe(true);
    expect(await runCommandFile('token', ['list'], { DATABASE_URL: url, CRON_SECRET: 'short' })).toEqual({
      code: 0,
      out: 'There are no access tokens yet.\n',
      err: '',
    });
  });

  test('gives its role limits where it is asked to', async () => {
    expect(await runCommandFile('db-migrate', ['--role-limits'], { DATABASE_URL: url })).toEqual({
      code: 0,
      out: expect.stringMatching(/up to date\.\n.* limits of time .*\n$/),
      err: '',
    });
    const { db, close } = openPostgres(url, { max: 1 });
    const [found] = await rows(
      db,
      sql`select current_setting('statement_timeout') as a, current_setting('lock_timeout') as b,
        current_setting('idle_in_transaction_session_timeout') as c`,
    );
    await close();
    expect(found).toEqual({ a: '30s', b: '10s', c: '1min' });
  });

  test('is migrated by the production build on Vercel, not by a preview', async () => {
    expect(await build('preview')).toMatchObject({ code: 0, out: expect.stringMatching(/stays as it is/) });
    expect(await hasSchema()).toBe(false);
    expect(await build('production')).toMatchObject({ code: 0, out: expect.stringMatching(/up to date/) });
    expect(await hasSchema()).toBe(true);
  });

  test('whose user may not create anything: a sentence', async () => {
    const admin = openPostgres(address, { max: 1 });
    await admin.db.execute(sql.raw(`create role ${user} login password 'secret'`));
    await admin.close();
    const poor = new URL(url);
    poor.username = user;
    poor.password = 'secret';
    expect(await migrate({ DATABASE_URL: poor.href })).toEqual({
      code: 1,
      out: '',
      err: expect.stringMatching(/^The user of DATABASE_URL lacks rights in that database: .*create.*\.\n$/),
    });
  });

  test('is reached by an address with parameters that are for the client alone', async () => {
    const told = await migrate({ DATABASE_URL: `${url}?channel_binding=require&pgbouncer=true` });
    expect(told).toMatchObject({ code: 0, err: '' });
  });

  test.each([
    [
      'sslmode=require where there is no SSL',
      `${url}?sslmode=require`,
      /^The database .* asked for SSL: .*\.\n$/,
    ],
    ['an unknown parameter', `${url}?colour=blue`, /^The database .* does not know a parameter .*\.\n$/],
    [
      'a % that stands for itself',
      'postgres://a:50%@127.0.0.1:5432/b',
      /^DATABASE_URL is no valid address: .*%25.*\.\n$/,
    ],
    [
      'a # in a password',
      'postgres://a:b#@127.0.0.1:5432/b',
      /^DATABASE_URL is no valid address: .*%23.*\.\n$/,
    ],
  ])('%s: a sentence', async (_, DATABASE_URL, sentence) => {
    const told = await migrate({ DATABASE_URL });
    expect(told).toEqual({ code: 1, out: '', err: expect.stringMatching(sentence) });
  });
});
