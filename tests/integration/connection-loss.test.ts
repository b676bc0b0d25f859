import { setTimeout as sleep } from 'node:timers/promises';
import postgres from 'postgres';
import { afterEach, expect, test } from 'vitest';
import { type Cut, type CuttingServer, startCuttingServer } from '../support/cutting-server';

// The driver is patched (patches/): as published, a connection that is lost within a transaction ends the
// process, or leaves a pool that never connects again.
let server: CuttingServer;
let sql: postgres.Sql;

async function connect(cutAt: (statement: string) => Cut | null): Promise<void> {
  server = await startCuttingServer(cutAt);
  sql = postgres(server.url, { max: 1, fetch_types: false, prepare: false, backoff: () => 0 });
}
afterEach(async () => {
  await sql.end({ timeout: 1 });
  await server.close();
});

const run = (on: postgres.Sql | postgres.TransactionSql, statement: string) => on.unsafe(statement).simple();

test.each(['close', 'reset'] as const)(
  'a connection lost while a statement runs (%s) fails its transaction, and no other',
  async (cut) => {
    await connect((statement) => (statement === 'first' ? cut : null));
    for (let i = 0; i < 3; i += 1) {
      const lost = sql.begin((tx) => run(tx, 'first'));
      await expect(lost).rejects.toMatchObject({
        code: 'CONNECTION_CLOSED',
      });
      await sql.begin((tx) => run(tx, 'another'));
      await Promise.all([run(sql, 'other'), run(sql, 'other')]);
    }
    const answered = ['begin ', 'another', 'commit', 'other', 'other'];
    expect(server.connections).toEqual([
      ['begin ', 'first'],
      [...answered, 'begin ', 'first'],
      [...answered, 'begin ', 'first'],
      answered,
    ]);
  },
);

test('nothing of a transaction runs on the connection that comes after its own', async () => {
  await connect((statement) => (statement === 'cut' ? 'close' : null));
  let goOn = () => {};
  const waiting = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let late: Promise<unknown> = Promise.resolve();
  const lost = sql.begin(async (tx) => {
    await run(tx, 'cut').catch(() => {}); // and the work goes on, as it were idle
    await waiting;
    late = run(tx, 'late');
    await late;
  });
  await expect(lost).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  await sql.begin(async (tx) => {
    await run(tx, 'another');
    goOn();
    await sleep(20);
    await run(tx, 'and more');
  });
  await expect(late).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  expect(server.connections).toEqual([
    ['begin ', 'cut'],
    ['begin ', 'another', 'and more', 'commit'],
  ]);
});
