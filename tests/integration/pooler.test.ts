import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { probePooler } from '@/db/pooler';
import { transact } from '@/db/transaction';
import { verifyAccessToken } from '@/lib/auth/access-token';
import { parseEnv } from '@/lib/env';
import { openDatabase } from '@/lib/open-database';
import { migrateServer } from '@/lib/open-server';
import { useDatabase } from '../support/database';
import { withDatabase } from '../support/database-url';
import { isPoolerInstalled, type Pooler, startPooler } from '../support/pooler';

const SECRET = 'x'.repeat(32);
const LIMITS = sql`select concat_ws(' ', current_setting('statement_timeout'),
  current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')) as told`;
const server = inject('postgres');
const base = useDatabase();

if (server && isPoolerInstalled()) {
  describe('behind PgBouncer in transaction mode', () => {
    let pooler: Pooler;
    let direct: string;
    let pooled: string;

    beforeAll(async () => {
      pooler = await startPooler(server.url);
      const [row] = await rows<{ name: string }>(base.db, sql`select current_database()::text as name`);
      direct = withDatabase(server.url, row?.name ?? '');
      pooled = withDatabase(pooler.url, row?.name ?? '');
    });
    afterAll(() => pooler?.stop());

    const open = (variables: Record<string, string>, options = {}) =>
      openDatabase(parseEnv({ DATABASE_URL: pooled, BETTER_AUTH_SECRET: SECRET, ...variables }), options);

    /** Runs a prepared statement in many sessions. */
    async function askMuch(db: Database): Promise<void> {
      const ask = (tx: Database) => verifyAccessToken(tx, `w5t_${'a'.repeat(43)}`, new Date());
      const work = () => transact(db, async (tx) => [await ask(tx), await ask(tx)]);
      await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? work() : ask(db))));
    }

    test.each([{}, { DATABASE_POOLER: 'transaction' }])('the database opens with %o', async (variables) => {
      const handle = await open(variables);
      await askMuch(handle.db);
      await handle.close();
    });

    test('named statements are what fails there', async () => {
      const handle = openPostgres(pooled);
      await expect(askMuch(handle.db)).rejects.toMatchObject({
        code: expect.stringMatching(/^(26000|42P05)$/),
      });
      await handle.close();
    });

    test('a transaction leaves no limit to whoever has the session next', async () => {
      const handle = await open({ DATABASE_POOLER: 'transaction' });
      const within = await transact(handle.db, (tx) => rows(tx, LIMITS));
      expect(within).toEqual([{ told: '30s 10s 1min' }]);
      const outside = Array.from({ length: 20 }, () => rows(handle.db, LIMITS));
      expect(await Promise.all(outside)).toEqual(Array(20).fill([{ told: '0 0 0' }]));
      await handle.close();
    });

    test('migrations run there, one at a time', async () => {
      await base.db.execute(sql`drop schema public, drizzle cascade`);
      await base.db.execute(sql`create schema public`);
      const env = parseEnv({ DATABASE_URL: pooled, BETTER_AUTH_SECRET: SECRET });
      await Promise.all([migrateServer(env), migrateServer(env), migrateServer(env)]);
      await (await open({})).close();
    });

    test('a dry run asks for the address of the database itself', async () => {
      await expect(open({}, { scratch: true })).rejects.toMatchObject({
        name: 'StartError',
        sentences: [expect.stringMatching(/^A dry run needs a session .* set DATABASE_URL_DIRECT/)],
      });
      const away = { DATABASE_URL_DIRECT: 'postgres://a:b@127.0.0.1:1/c' };
      await expect(open(away, { scratch: true })).rejects.toMatchObject({ name: 'StartError' });
      const handle = await open({ DATABASE_URL_DIRECT: direct }, { scratch: true });
      await handle.db.execute(sql`create temporary table of_mine ()`).then(
        () => expect.fail('it must be read-only'),
        (error: { code?: string }) => expect(error.code).toBe('25006'),
      );
      await handle.close();
    });

    test('what it can do is found out', async () => {
      const session = await startPooler(server.url, { pool_mode: 'session' });
      const narrow = await startPooler(server.url, { default_pool_size: '1' });
      expect(await probePooler(pooled)).toEqual({ sharesSessions: true, keepsStatements: false });
      expect(await probePooler(direct)).toEqual({ sharesSessions: false, keepsStatements: true });
      expect(await probePooler(session.url)).toEqual({ sharesSessions: false, keepsStatements: true });
      expect(await probePooler(narrow.url)).toEqual({ sharesSessions: true, keepsStatements: false });
      await Promise.all([session.stop(), narrow.stop()]);
    });
  });
}

test('a transaction keeps its limits to itself', async () => {
  await transact(base.db, (tx) => rows(tx, LIMITS));
  expect(await rows(base.db, LIMITS)).toEqual([{ told: '0 0 0' }]);
});
