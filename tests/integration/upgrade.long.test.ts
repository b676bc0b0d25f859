import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { sql } from 'drizzle-orm';
import { expect, inject, onTestFinished, test } from 'vitest';
import { type DatabaseHandle, openInMemory, openPostgres } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { isMigrated, migrate } from '@/db/migrate';
import { checkCounts } from '@/lib/counted-list/check-counts';
import { onServer } from '../support/database';
import { withDatabase } from '../support/database-url';

/**
 * A database of release 1.0.0: its migrations 0000 to 0002, its functions, and 60 sample customers with their records.
 * It was made with `pg_dump --no-owner --no-privileges --inserts`. Never replace it, because databases like it exist.
 */
const FIRST_RELEASE = 'tests/support/first-release.sql.gz';

/**
 * Pattern of tables that triggers derive from other tables. The concurrent writers change their rows, so the test does
 * not compare them. `checkCounts` checks them.
 */
const DERIVED = /_blocks$|_deltas$|^sums$|^receivable/;

/** Pattern of statements that fail on PGlite, which lacks this compression. Our migrations skip them on PGlite. */
const OF_SERVERS = /^ALTER TABLE .* SET COMPRESSION lz4;$/gm;

/** Restores the dump into a new database, on the server if the tests use one. */
async function restoreFirstRelease(): Promise<DatabaseHandle> {
  const dump = gunzipSync(readFileSync(FIRST_RELEASE)).toString();
  const server = inject('postgres');
  if (!server) {
    const handle = await openInMemory();
    onTestFinished(() => handle.close());
    await handle.client.exec(dump.replaceAll(OF_SERVERS, ''));
    await handle.client.exec('reset all'); // The dump has set the search path of its session.
    return handle;
  }
  const name = `w5t_first_release_${randomUUID().slice(0, 8)}`;
  await onServer(server.url, `create database ${name} encoding 'UTF8' template template0`);
  const url = withDatabase(server.url, name);
  await onServer(url, dump);
  const handle = openPostgres(url);
  onTestFinished(async () => {
    await handle.close();
    await onServer(server.url, `drop database ${name} with (force)`);
  });
  return handle;
}

type Row = Record<string, unknown>;

/** Returns the rows of every table except the derived ones (`DERIVED`), by table. */
async function readTables(db: Database): Promise<Map<string, Row[]>> {
  const tables = await rows<{ name: string }>(
    db,
    sql`select tablename::text as name from pg_tables where schemaname = 'public' order by 1`,
  );
  const found = new Map<string, Row[]>();
  for (const { name } of tables.filter((table) => !DERIVED.test(table.name))) {
    const read = await rows<{ row: Row }>(db, sql`select to_jsonb(t) as row from ${sql.identifier(name)} t`);
    found.set(
      name,
      Array.from(read, ({ row }) => row),
    );
  }
  return found;
}

/** Lists the rows of `before` that `after` lacks. A later migration may add columns, which do not count. */
function lostRows(before: Map<string, Row[]>, after: Map<string, Row[]>): string[] {
  return [...before].flatMap(([table, old]) => {
    const columns = Object.keys(old[0] ?? {}).sort();
    const textOf = (row: Row) => JSON.stringify(columns.map((column) => row[column]));
    const kept = new Set((after.get(table) ?? []).map(textOf));
    return old.map(textOf).flatMap((text) => (kept.has(text) ? [] : [`${table} ${text}`]));
  });
}

/** Adds customers one after the other, as a client of release 1.0.0 would, until it is stopped. */
function startWriter({ db }: DatabaseHandle, name: string) {
  const acknowledged: string[] = [];
  let isStopped = false;
  const write = async () => {
    for (let count = 1; !isStopped; count += 1) {
      const number = `${name}-${count}`;
      await db.execute(sql`insert into customers (customer_number, last_name) values (${number}, 'Writer')`);
      acknowledged.push(number);
      await setImmediate(); // Let other code run, because PGlite answers without a turn of the event loop.
    }
  };
  const done = write();
  done.catch(() => {}); // `stop` throws the error of a failed write.
  return {
    acknowledged,
    stop: async () => {
      isStopped = true;
      await done;
    },
  };
}

test('a database of the first release keeps every row while it is migrated and clients write', async () => {
  const handle = await restoreFirstRelease();
  const { db } = handle;
  const before = await readTables(db);
  expect(before.get('customers')?.length).toBe(60);
  expect(before.get('payments')?.length).toBeGreaterThan(100);

  const writers = ['A', 'B'].map((name) => startWriter(handle, name));
  const haveWritten = (count: number) =>
    expect.poll(() => writers.every((one) => one.acknowledged.length >= count)).toBe(true);
  await haveWritten(3);
  await migrate(handle);
  const sizes = writers.map(({ acknowledged }) => acknowledged.length);
  await haveWritten(Math.max(...sizes) + 3);
  await Promise.all(writers.map((writer) => writer.stop()));

  expect(await isMigrated(db)).toBe(true);
  const after = await readTables(db);
  expect(lostRows(before, after)).toEqual([]);
  const numbers = new Set(after.get('customers')?.map(({ customer_number }) => customer_number));
  const acknowledged = writers.flatMap((writer) => writer.acknowledged);
  expect(acknowledged.filter((number) => !numbers.has(number))).toEqual([]);
  expect(await checkCounts(db)).toEqual([]);
});
