import { asc, sql } from 'drizzle-orm';
import { beforeEach, describe, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { invoiceStatus, invoices } from '@/db/schema';
import { toCalendarDate } from '@/lib/dates';
import { settleInvoice } from '@/lib/invoices/settle-invoice';
import { isUnpaid, unpaidStatus, unpaidStatusSql } from '@/lib/overdue';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { testRuntime } from '../support/runtime';

const DUE_DATES = [null, '2026-03-14', '2026-03-15', '2026-03-16'];
const INSTANTS = ['2026-03-15T09:30:00Z', '2026-03-15T12:00:00Z', '2026-03-15T23:30:00Z'];
const ZONES = ['UTC', 'Europe/Berlin', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'];
const MOMENTS = INSTANTS.flatMap((instant) => ZONES.map((zone) => [instant, zone] as const));

const base = useDatabase();

test('the rule is the same in SQL', async () => {
  const cases = DUE_DATES.flatMap((due_date) =>
    [true, false].flatMap((paymentFailed) =>
      [true, false].map((uncollectible) => ({ due_date, paymentFailed, uncollectible })),
    ),
  );
  for (const [instant, zone] of MOMENTS) {
    const today = toCalendarDate(new Date(instant), zone);
    const columns = {
      due_date: sql`c.due_date`,
      payment_failed_at: sql`nullif(c."paymentFailed", false)`,
      uncollectible: sql`c.uncollectible`,
    };
    const found = await rows<{ status: string }>(
      base.db,
      sql`select ${unpaidStatusSql(columns, sql`${today}::date`)} as status
        from jsonb_to_recordset(${JSON.stringify(cases)}::text::jsonb)
          as c(due_date date, "paymentFailed" boolean, uncollectible boolean)`,
    );
    expect(found.map(({ status }) => status)).toEqual(cases.map((one) => unpaidStatus(one, today)));
  }
});

describe('of an invoice of our own', () => {
  const cases = invoiceStatus.enumValues.flatMap((status) =>
    DUE_DATES.map((due_date) => ({ status, due_date })),
  );

  beforeEach(async () => {
    const { id: customer_id } = await createCustomer(base.db);
    for (const one of cases) await createInvoice(base.db, { customer_id, ...one });
    return async () => {
      await base.db.delete(invoices);
    };
  });

  const read = () => base.db.select().from(invoices).orderBy(asc(invoices.id));

  test.each(MOMENTS)('its payments and the night follow it at %s in %s', async (instant, zone) => {
    const now = new Date(instant);
    const today = toCalendarDate(now, zone);
    const runtime = testRuntime(base.db, { now, env: { APP_TIMEZONE: zone } });
    await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: null });
    const sent = cases.map((one) => (one.status === 'sent' ? unpaidStatus(one, today) : one.status));
    expect((await read()).map(({ status }) => status)).toEqual(sent);

    for (const { id } of await read()) await settleInvoice(base.db, id, { today, now });
    const settled = cases.map((one) =>
      isUnpaid(one.status) || one.status === 'paid' ? unpaidStatus(one, today) : one.status,
    );
    expect((await read()).map(({ status }) => status)).toEqual(settled);
  });
});
