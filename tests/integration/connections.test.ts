import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'drizzle-orm';
import postgres from 'postgres';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { openPostgres, probePooler, TRANSACTION_POOLER } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { transact } from '@/db/transaction';
import { commandActor } from '@/lib/audit/audit-log';
import { parseEnv } from '@/lib/env';
import { migrateServer, openDatabase } from '@/lib/open-database';
import { verifyAccessToken } from '@/lib/tokens/access-token';
import { createAccessToken } from '@/lib/tokens/manage-access-tokens';
import { useDatabase } from '../support/database';
import { withDatabase } from '../support/database-url';
import { createInvoice } from '../support/factories';
import { isPoolerInstalled, type Pooler, startPooler } from '../support/pooler';
import { WEBHOOK_SECRET } from '../support/stripe-events';
import { paidInvoiceOf, paymentOf, sendToAny, startServerProcess } from '../support/two-servers';

/** How the test’s server ends a connection. */
type Cut = 'close' | 'reset';

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const AUTHENTICATED = message('R', Buffer.alloc(4));
const READY = message('Z', Buffer.from('I'));
const DONE = message('C', Buffer.from('DONE\0'));
const PREPARED = Buffer.concat(['1', '2', 'n'].map((type) => message(type, Buffer.alloc(0))));

/**
 * Starts a minimal PostgreSQL server that cuts connections. Supports no parameters and returns no rows. `connections` has
 * the statements of each connection, in the order of arrival.
 */
async function startCuttingServer(cutAt: (statement: string) => Cut | null) {
  const connections: string[][] = [];
  const server = createServer((socket) => {
    const statements: string[] = [];
    connections.push(statements);
    let received = Buffer.alloc(0);
    let isStarted = false;
    socket.on('error', () => {}); // The connection is cut on purpose.
    socket.on('data', (data) => {
      received = Buffer.concat([received, data]);
      for (;;) {
        const at = isStarted ? 1 : 0; // The first message of a connection has no type byte.
        if (received.length < at + 4) return;
        const length = at + received.readInt32BE(at);
        if (received.length < length) return;
        const type = isStarted ? String.fromCharCode(received[0] ?? 0) : 'startup';
        const texts = received.toString('utf8', at + 4, length).split('\0');
        received = received.subarray(length);
        isStarted = true;
        if (type === 'startup') socket.write(Buffer.concat([AUTHENTICATED, READY]));
        else if (type === 'S') socket.write(Buffer.concat([PREPARED, DONE, READY]));
        else if (type === 'P') statements.push(texts[1] ?? '');
        else if (type === 'Q') {
          statements.push(texts[0] ?? '');
          const cut = cutAt(texts[0] ?? '');
          if (cut === 'reset') socket.resetAndDestroy();
          else if (cut === 'close') socket.destroy();
          else socket.write(Buffer.concat([DONE, READY]));
        }
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `postgres://test@127.0.0.1:${(server.address() as AddressInfo).port}/test`,
    connections,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

describe('lost connections', () => {
  // These tests need the driver patch in patches/. Without it, a connection lost within a transaction ends the process,
  // or the pool never connects again.
  let cutting: Awaited<ReturnType<typeof startCuttingServer>>;
  let client: postgres.Sql;

  async function connect(cutAt: (statement: string) => Cut | null): Promise<void> {
    cutting = await startCuttingServer(cutAt);
    client = postgres(cutting.url, { max: 1, fetch_types: false, prepare: false, backoff: () => 0 });
  }
  afterEach(async () => {
    await client.end({ timeout: 1 });
    await cutting.close();
  });

  const run = (on: postgres.Sql | postgres.TransactionSql, statement: string) =>
    on.unsafe(statement).simple();

  test.each(['close', 'reset'] as const)(
    'a connection lost during a statement (%s) fails only its own transaction',
    async (cut) => {
      await connect((statement) => (statement === 'first' ? cut : null));
      for (let i = 0; i < 3; i += 1) {
        const lost = client.begin((tx) => run(tx, 'first'));
        await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
        await client.begin((tx) => run(tx, 'another'));
        await Promise.all([run(client, 'other'), run(client, 'other')]);
      }
      const answered = ['begin ', 'another', 'commit', 'other', 'other'];
      expect(cutting.connections).toEqual([
        ['begin ', 'first'],
        [...answered, 'begin ', 'first'],
        [...answered, 'begin ', 'first'],
        answered,
      ]);
    },
  );

  test('a transaction whose connection is lost sends no statement on a new connection', async () => {
    await connect((statement) => (statement === 'cut' ? 'close' : null));
    let letContinue = () => {};
    const waiting = new Promise<void>((resolve) => {
      letContinue = resolve;
    });
    let late: Promise<unknown> = Promise.resolve();
    const lost = client.begin(async (tx) => {
      await run(tx, 'cut').catch(() => {}); // The transaction continues although its connection is lost.
      await waiting;
      late = run(tx, 'late');
      await late;
    });
    await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    await client.begin(async (tx) => {
      await run(tx, 'another');
      letContinue();
      await sleep(20);
      await run(tx, 'and more');
    });
    await expect(late).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    expect(cutting.connections).toEqual([
      ['begin ', 'cut'],
      ['begin ', 'another', 'and more', 'commit'],
    ]);
  });
});

const SECRET = 'x'.repeat(32);
const LIMITS = sql`select concat_ws(' ', current_setting('statement_timeout'),
  current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')) as told`;
const server = inject('postgres');
const base = useDatabase();

if (server && isPoolerInstalled()) {
  describe('connections through PgBouncer in transaction mode', () => {
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

    /** Runs a prepared statement in 30 transactions and 30 times outside of them, all at the same time. */
    async function askMuch(db: Database): Promise<void> {
      const ask = (tx: Database) => verifyAccessToken(tx, `w5t_${'a'.repeat(43)}`, new Date());
      const work = () => transact(db, async (tx) => [await ask(tx), await ask(tx)]);
      await Promise.all(Array.from({ length: 60 }, (_, i) => (i % 2 ? work() : ask(db))));
    }

    test.each([{}, { DATABASE_POOLER: 'transaction' }])(
      'a database behind PgBouncer opens and answers prepared statements with the settings %o',
      async (variables) => {
        const handle = await open(variables);
        await askMuch(handle.db);
        await handle.close();
      },
    );

    test('each of 500 concurrent statements gets its own answer behind PgBouncer', async () => {
      const handle = openPostgres(pooled, { pooler: TRANSACTION_POOLER, max: 4 });
      const asked = Array.from({ length: 500 }, async (_, i) => {
        if (i % 2) await handle.db.execute(sql`select pg_sleep(0.0002)`);
        return rows(handle.db, sql`select ${i}::int as number`);
      });
      expect((await Promise.all(asked)).flat()).toEqual(asked.map((_, number) => ({ number })));
      await handle.close();
    });

    test('time limits of a transaction do not leak to other users of a PgBouncer session', async () => {
      const handle = await open({ DATABASE_POOLER: 'transaction' });
      const within = await transact(handle.db, (tx) => rows(tx, LIMITS));
      expect(within).toEqual([{ told: '30s 10s 1min' }]);
      const outside = Array.from({ length: 20 }, () => rows(handle.db, LIMITS));
      expect(await Promise.all(outside)).toEqual(Array(20).fill([{ told: '0 0 0' }]));
      await handle.close();
    });

    test('three concurrent migrations behind PgBouncer all succeed', async () => {
      await base.db.execute(sql`drop schema public, drizzle cascade`);
      await base.db.execute(sql`create schema public`);
      const env = parseEnv({ DATABASE_URL: pooled, BETTER_AUTH_SECRET: SECRET });
      await Promise.all([migrateServer(env), migrateServer(env), migrateServer(env)]);
      await (await open({})).close();
    });

    test('a dry run behind PgBouncer requires a DATABASE_URL_DIRECT that connects, and is read-only', async () => {
      await expect(open({}, { scratch: true })).rejects.toMatchObject({
        name: 'StartError',
        sentences: [expect.stringMatching(/^A dry run needs a session .* set DATABASE_URL_DIRECT/)],
      });
      const away = { DATABASE_URL_DIRECT: 'postgres://a:b@127.0.0.1:1/c' };
      await expect(open(away, { scratch: true })).rejects.toMatchObject({ name: 'StartError' });
      const handle = await open({ DATABASE_URL_DIRECT: direct }, { scratch: true });
      const written = handle.db.execute(sql`create temporary table of_mine ()`);
      await expect(written).rejects.toMatchObject({ code: '25006' }); // The session is read-only.
      await handle.close();
    });

    test('payments and events are neither lost nor duplicated when one of two servers is killed', async () => {
      const invoice = await createInvoice(base.db, { total: '100000.000', amount_due: '100000.000' });
      const made = { name: 'Test', expires_at: null, created_by: commandActor('test') };
      const { token } = await createAccessToken(
        base.db,
        { ...made, scopes: ['payments:write'] },
        randomBytes,
      );
      const variables = {
        ...{ DATABASE_URL: pooled, DATABASE_POOLER: 'transaction' },
        ...{ BETTER_AUTH_SECRET: SECRET, STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET },
      };
      const servers = await Promise.all([1, 2].map(() => startServerProcess(variables)));
      // Odd requests go to the second server first, so the kinds change in pairs to reach both servers.
      const requests = Array.from({ length: 300 }, (_, i) =>
        i % 4 < 2 ? paymentOf(invoice, token, `LOAD-${i}`) : paidInvoiceOf(`in_load_${i}`),
      );
      let answered = 0;
      const sent = requests.map((send) => async (url: string) => {
        const answer = await send(url);
        answered += 1;
        if (answered === 50) await servers[0]?.kill();
        return answer;
      });
      expect(await sendToAny(servers, sent, 16)).toBeGreaterThan(0);
      await servers[1]?.kill();
      const [counted] = await rows(
        base.db,
        sql`select
          (select count(*)::int from payments where payment_reference like 'LOAD-%') as recorded,
          (select count(*)::int from audit_log a join payments p on p.id = a.entity_id and a.entity = 'payment'
            where payment_reference like 'LOAD-%' and action = 'payment.create') as audited,
          (select amount_paid::int from invoices where id = ${invoice.id}) as settled,
          (select count(*)::int from stripe_events where id like 'evt_in_load_%' and outcome = 'processed') as events,
          (select count(*)::int from payments where payment_reference like 'in_load_%') as collected`,
      );
      expect(counted).toEqual({ recorded: 150, audited: 150, settled: 150, events: 150, collected: 150 });
    }, 180_000);

    test('the pooling mode of PgBouncer is detected', async () => {
      const session = await startPooler(server.url, { pool_mode: 'session' });
      const narrow = await startPooler(server.url, { default_pool_size: '1' });
      expect(await probePooler(pooled)).toEqual(TRANSACTION_POOLER);
      expect(await probePooler(direct)).toEqual({ sharesSessions: false, keepsStatements: true });
      expect(await probePooler(session.url)).toEqual({ sharesSessions: false, keepsStatements: true });
      expect(await probePooler(narrow.url)).toEqual(TRANSACTION_POOLER);
      await Promise.all([session.stop(), narrow.stop()]);
    });
  });
}

test('the time limits of a transaction do not apply after it ends', async () => {
  await transact(base.db, (tx) => rows(tx, LIMITS));
  expect(await rows(base.db, LIMITS)).toEqual([{ told: '0 0 0' }]);
});
