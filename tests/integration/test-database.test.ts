import { sql } from 'drizzle-orm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabaseHandle } from '@/db/client';
import { type Database, rows } from '@/db/database';
import { seedDatabase } from '@/db/seed';
import { createTestDatabase, dumpDatabase, emptyDatabase } from '../support/database';

let used: DatabaseHandle;
let fresh: DatabaseHandle;
beforeAll(async () => {
  used = await createTestDatabase();
  fresh = await createTestDatabase();
});
afterAll(async () => {
  await used?.close();
  await fresh?.close();
});

const sequencesOf = (db: Database) =>
  rows(db, sql`select sequencename::text, last_value::text from pg_sequences order by 1`);

test('an emptied database holds what a fresh one holds, and its sequences begin anew', async () => {
  await seedDatabase(used.db, { today: '2026-03-15', timeZone: 'UTC' });
  expect((await dumpDatabase(used.db)).length).toBeGreaterThan(1000);
  await emptyDatabase(used.db);
  expect(await dumpDatabase(used.db)).toEqual(await dumpDatabase(fresh.db));
  expect(await sequencesOf(used.db)).toEqual(await sequencesOf(fresh.db));
});
