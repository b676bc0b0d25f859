import { sql } from 'drizzle-orm';
import { expect, test } from 'vitest';
import { rows } from '@/db/database';
import { seedDatabase } from '@/db/seed';
import { showStates } from '@/lib/cli/demo/show-states';
import { parseEnv } from '@/lib/env';
import { listTasks } from '@/lib/overview/list-tasks';
import { countDeliveries } from '@/lib/overview/sync-counts';
import { listRuns } from '@/lib/sync/reconcile/run-queries';
import { useDatabase } from '../support/database';

const base = useDatabase();
const now = new Date('2026-11-24T12:00:00Z');

test('the demo shows failed and unmatched events, a run with changes, an overpaid invoice and a created customer', async () => {
  await seedDatabase(base.db, { today: '2026-11-24', timeZone: 'UTC' });
  await showStates(base.db, { now, timeZone: 'UTC' });
  const codes = (await listTasks(base.db, now, parseEnv({}))).map(({ code }) => code);
  expect(codes).toEqual(expect.arrayContaining(['inbox_failures', 'events_unmatched', 'customers_created']));
  expect((await countDeliveries(base.db, now)).map(({ state }) => state)).toEqual(
    expect.arrayContaining(['processed', 'failed', 'unmatched']),
  );
  expect((await listRuns(base.db, { page: 1, per_page: 1 })).data).toMatchObject([{ changes_count: 3 }]);
  const [overpaid] = await rows<{ count: number }>(
    base.db,
    sql`select count(*)::int as count from invoices where amount_paid > total`,
  );
  expect(overpaid?.count).toBeGreaterThan(0);
});
