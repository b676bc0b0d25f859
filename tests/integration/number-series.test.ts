import { desc } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { auditLog } from '@/db/schema';
import { transact } from '@/db/transaction';
import { commandActor } from '@/lib/audit/record-audit';
import { listNumberSeries, saveNumberSeries } from '@/lib/records/number-series';
import { takeNumber } from '@/lib/records/take-number';
import { useDatabase } from '../support/database';
import { createInvoice } from '../support/factories';

const base = useDatabase();
const writer = { actor: commandActor('test'), now: new Date('2026-11-23T10:00:00Z'), timeZone: 'UTC' };
const settings = { prefix: 'R-', with_year: false, width: 4, first_count: 1 };
const next = () => transact(base.db, (tx) => takeNumber(tx, 'invoice', writer));

beforeAll(() => createInvoice(base.db, { number: '2026-000007' }));

test('the series there are', async () => {
  const names = (await listNumberSeries(base.db)).map(({ name }) => name);
  expect(names).toEqual(['invoice', 'offer', 'order_confirmation', 'service']);
});

test('the next number looks as it is set, and the log tells who set it', async () => {
  expect(await next()).toBe('2026-000008');
  await saveNumberSeries(base.db, 'invoice', { ...settings, first_count: 500 }, writer);
  expect(await next()).toBe('R-0500');
  const [entry] = await base.db.select().from(auditLog).orderBy(desc(auditLog.id)).limit(1);
  expect(entry).toMatchObject({
    action: 'number_series.update',
    before: { prefix: '', with_year: true },
    after: { prefix: 'R-', first_count: 500 },
  });
});

test.each<[Partial<Record<keyof typeof settings, unknown>>, string]>([
  [{ prefix: 'R 1' }, 'prefix'],
  [{ prefix: 'x'.repeat(21) }, 'prefix'],
  [{ width: 0 }, 'width'],
  [{ width: 13 }, 'width'],
  [{ width: 'six' }, 'width'],
  [{ first_count: 10_000 }, 'first_count'],
])('%j is refused', async (values, field) => {
  const saving = saveNumberSeries(base.db, 'offer', { ...settings, ...values }, writer);
  await expect(saving).rejects.toMatchObject({
    fields: expect.arrayContaining([{ field, message: expect.any(String) }]),
  });
});

test('there is no other series', async () => {
  await expect(saveNumberSeries(base.db, 'bill', settings, writer)).rejects.toMatchObject({
    code: 'not_found',
  });
});
