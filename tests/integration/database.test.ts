import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api';
import { count, eq, max, sql } from 'drizzle-orm';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type DatabaseHandle, openEmbedded } from '@/db/client';
import { type Database, inJoinedTexts, inTexts, rows, statement } from '@/db/database';
import { ForeignMigrationsError, isMigrated, migrate } from '@/db/migrate';
import * as schema from '@/db/schema';
import { seedDatabase } from '@/db/seed';
import { recordAudit } from '@/lib/audit/audit-log';
import { showStates } from '@/lib/cli/demo/show-states';
import { parseEnv } from '@/lib/env';
import { openDatabase, requireMigrated } from '@/lib/open-database';
import { listTasks } from '@/lib/overview/list-tasks';
import { listRuns } from '@/lib/sync/reconcile/run';
import { makeDataDir } from '../support/command-server';
import {
  createTestDatabase,
  databaseState,
  disownMigrations,
  dumpDatabase,
  emptyDatabase,
  FOREIGN,
  isPooled,
  onPostgres,
  useDatabase,
} from '../support/database';
import { createCustomer, createServer } from '../support/factories';
import { temporaryFolder } from '../support/run-command';

const { auditLog, servers } = schema;
const base = useDatabase();

describe('prepared statements', () => {
  const findServer = statement(['hostname'], (db, { hostname }) =>
    db.select().from(servers).where(eq(servers.hostname, hostname)),
  );

  test('a prepared statement returns complete rows, and sees the uncommitted changes of its own transaction', async () => {
    const made = await createServer(base.db, { ipv4: ['192.0.2.1'] });
    expect(await findServer(base.db, { hostname: made.hostname })).toEqual([made]);
    const rolledBack = base.db.transaction(async (tx) => {
      await tx.update(servers).set({ hostname: 'renamed.example.net' }).where(eq(servers.id, made.id));
      expect(await findServer(tx, { hostname: made.hostname })).toEqual([]);
      expect(await findServer(tx, { hostname: 'renamed.example.net' })).toHaveLength(1);
      throw new Error('enough');
    });
    await expect(rolledBack).rejects.toThrow('enough');
    expect(await findServer(base.db, { hostname: made.hostname })).toEqual([made]);
  });

  test('a prepared statement returns computed columns with the right types', async () => {
    const made = await createServer(base.db);
    const lastOf = statement(['hostname'], (db, { hostname }) =>
      db
        .select({ at: max(servers.created_at), count: count() })
        .from(servers)
        .where(eq(servers.hostname, hostname)),
    );
    expect(await lastOf(base.db, { hostname: made.hostname })).toEqual([{ at: made.created_at, count: 1 }]);
    expect(await lastOf(base.db, { hostname: 'nobody' })).toEqual([{ at: null, count: 0 }]);
  });

  test('a repeated statement is prepared once per connection, and never behind a pooler or in PGlite', async () => {
    const prepared = await base.db.transaction(async (tx) => {
      for (const hostname of ['a', 'b']) await findServer(tx, { hostname });
      return rows(
        tx,
        sql`select 1 as one from pg_prepared_statements where statement like 'select "id"%from "servers"%'`,
      );
    });
    expect(prepared).toHaveLength(onPostgres() && !isPooled() ? 1 : 0);
  });
});

test('an audit entry for a creation stores SQL null as the previous state', async () => {
  await recordAudit(base.db, {
    actor: { type: 'cli', id: 'test', name: 'Test' },
    ...{ action: 'payment.create', entity: 'payment', entity_id: 1 },
    ...{ before: null, after: { id: 1, amount: '1.000' } },
  });
  const [entry] = await base.db.select({ absent: sql`before is null`, after: auditLog.after }).from(auditLog);
  expect(entry).toEqual({ absent: true, after: { id: 1, amount: '1.000' } });
});

test('an error of the database driver contains neither SQL nor parameters', async () => {
  // The driver's call of `toString` fails. Drizzle then calls it again for its error message.
  const asText = vi
    .fn(() => 'text')
    .mockImplementationOnce(() => {
      throw new Error('it has no text');
    });
  const unsendable = sql.param({ toString: asText });
  const failed = base.db.execute(sql`select ${'private@example.com'}::text, ${unsendable}::text`);
  const error = await failed.catch((thrown: Error) => thrown);
  expect(error).toBeInstanceOf(Error);
  expect(`${error}${(error as Error).stack}${(error as Error).cause}`).not.toMatch(/private@example|select/);
});

test.each([
  ['one parameter', inTexts],
  ['a join', inJoinedTexts],
])(
  'a text comparison through %s finds texts with special characters, but none that PostgreSQL cannot store',
  async (_, among) => {
    const stored = ["O'Brien", '"quoted", {and} \\ more', 'Zoë\n', '', '\u{1f600}'];
    const find = async (texts: string[]) => {
      const found = await rows<{ text: string }>(
        base.db,
        sql`select stored.text from jsonb_array_elements_text(${JSON.stringify(stored)}::jsonb) stored (text)
        where ${among(sql`stored.text`, texts)}`,
      );
      return found.map(({ text }) => text);
    };
    expect(await find([...stored, ...stored])).toEqual(stored);
    expect(await find([])).toEqual([]);
    // A text that PostgreSQL cannot store matches nothing, and the other texts are still found.
    expect(await find(['a\0b', '\ud83d', 'Zoë\n'])).toEqual(['Zoë\n']);
    const isFound = inTexts(sql`lower('K1')`, ['x', 'k1'], (text) => sql`lower(${text})`);
    expect(await rows(base.db, sql`select ${isFound} as found`)).toEqual([{ found: true }]);
  },
);

describe('the sample data in a database', () => {
  const now = new Date('2026-11-24T12:00:00Z');
  let fresh: DatabaseHandle;
  beforeAll(async () => {
    fresh = await createTestDatabase();
    await emptyDatabase(base.db);
    await seedDatabase(base.db, { today: '2026-11-24', timeZone: 'UTC' });
  });
  afterAll(() => fresh?.close());

  test('the demo has tasks, an overpaid invoice and a reconciliation run with changes', async () => {
    const { db } = base;
    await showStates(db, { now, timeZone: 'UTC' });
    const codes = (await listTasks(db, now, parseEnv({}))).map(({ code }) => code);
    expect(codes).toEqual(['links_proposed', 'customers_created']);
    expect((await listRuns(db, { page: 1, per_page: 1 })).data).toMatchObject([{ changes_count: 3 }]);
    expect(await db.$count(sql`invoices`, sql`amount_paid > total`)).toBeGreaterThan(0);
  });

  test('emptyDatabase leaves the same rows and sequences as a new database', async () => {
    const sequencesOf = (db: Database) =>
      rows(db, sql`select sequencename::text, last_value::text from pg_sequences order by 1`);
    expect((await dumpDatabase(base.db)).length).toBeGreaterThan(1000);
    await emptyDatabase(base.db);
    expect(await dumpDatabase(base.db)).toEqual(await dumpDatabase(fresh.db));
    expect(await sequencesOf(base.db)).toEqual(await sequencesOf(fresh.db));
  });
});

const DB = join(import.meta.dirname, '../../db');
const read = (...path: string[]) => readFileSync(join(DB, ...path), 'utf8');
const readMeta = (file: string) => JSON.parse(read('migrations/meta', file));
const readAll = (folder: string) =>
  readdirSync(join(DB, folder))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => read(folder, file))
    .join('');
const journal: { entries: { idx: number; when: number }[] } = readMeta('_journal.json');

const temporary = temporaryFolder();

/** Creates a second database, which the test may change, and drops it at the end of the test. */
async function newDatabase() {
  const other = await createTestDatabase();
  onTestFinished(() => other.close());
  return other;
}

test('the newest migration contains the whole schema; if not, run npm run db:generate', async () => {
  const last = readMeta(`${String(journal.entries.at(-1)?.idx).padStart(4, '0')}_snapshot.json`);
  expect(await generateMigration(last, generateDrizzleJson(schema, last.id))).toEqual([]);
});

test('the last hash in the migrations is that of db/functions; if not, run npm run db:generate -- --custom', () => {
  const hash = createHash('sha256').update(readAll('functions')).digest('hex');
  const marks = readAll('migrations').match(/^-- Functions: .*$/gm);
  expect(marks?.at(-1)).toBe(`-- Functions: ${hash}`);
});

test('migrating an up-to-date database changes nothing', async () => {
  expect(await isMigrated(base.db)).toBe(true);
  const before = await databaseState(base.db);
  await migrate({ db: base.db });
  expect(await databaseState(base.db)).toEqual(before);
});

test('migrating refuses a database from before the first release without changing it', async () => {
  const other = await newDatabase();
  await createCustomer(other.db);
  await disownMigrations(other.db);
  const before = await databaseState(other.db);
  await expect(migrate(other)).rejects.toThrow(ForeignMigrationsError);
  expect(await databaseState(other.db)).toEqual(before);
});

test('migrating refuses a database of a newer version without changing it', async () => {
  const other = await newDatabase();
  await other.db.execute(
    sql`insert into drizzle.__drizzle_migrations (hash, created_at) values ('newer', ${(journal.entries.at(-1)?.when ?? 0) + 1})`,
  );
  const before = await databaseState(other.db);
  const known = journal.entries.length;
  await expect(migrate(other)).rejects.toMatchObject({ found: known + 1, known });
  await expect(requireMigrated(other.db)).rejects.toThrow(
    `This database belongs to a newer version: it has ${known + 1} migrations, and this version knows ${known}. `,
  );
  expect(await databaseState(other.db)).toEqual(before);
});

test('migrating replaces a changed SQL function only if it applies migrations', async () => {
  const other = await newDatabase();
  const { db } = other;
  const source = async () =>
    (await rows(db, sql`select prosrc from pg_proc where proname = 'remove_if_empty'`))[0]?.prosrc;
  const replace = sql`create or replace function remove_if_empty(customer int, heir int) returns void language plpgsql
    as 'begin end'`;
  const ours = await source();
  expect(read('functions/commit_customers.sql')).toContain(ours);
  await db.execute(replace);
  await migrate(other);
  expect(await source()).toBe('begin end');

  await db.execute(sql`delete from drizzle.__drizzle_migrations
    where created_at = (select max(created_at) from drizzle.__drizzle_migrations)`);
  expect(await isMigrated(db)).toBe(false);

  await db.execute(sql`drop schema public cascade`);
  await db.execute(sql`create schema public`);
  await db.execute(sql`create extension pg_trgm`);
  await db.execute(replace);
  await db.execute(sql`delete from drizzle.__drizzle_migrations`);
  await migrate(other);
  expect(await source()).toBe(ours);
  await db.execute(sql`drop schema drizzle cascade`);
  expect(await isMigrated(db)).toBe(false);
});

test('an embedded database from before the first release is refused', async () => {
  const dataDir = await makeDataDir(join(temporary, 'foreign'));
  const { db, close } = await openEmbedded(dataDir);
  await disownMigrations(db);
  await close();
  await expect(openDatabase(parseEnv({ DATA_DIR: dataDir }))).rejects.toThrow(FOREIGN);
});
