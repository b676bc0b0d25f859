import { type SQL, sql } from 'drizzle-orm';
import { beforeAll, expect, test } from 'vitest';
import { rows } from '@/db/database';
import { installFunctions } from '@/db/install-functions';
import { checkCounts, recountLists } from '@/lib/counted-list/check-counts';
import { getMoneyReceived } from '@/lib/overview/money-received';
import { sumOpenInvoices } from '@/lib/overview/open-invoices';
import { RENEWING, sumRenewals } from '@/lib/services/renewals';
import { useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';

const base = useDatabase();
const WRITES = 3000;
const WRITERS = 32;
const TODAY = { today: '2026-03-31', timeZone: 'UTC' };

let ids: { customer: number; invoice: number };
let drawn = 0;

const oneOf = <Value>(values: readonly Value[]) => values[Math.floor(Math.random() * values.length)] as Value;
const amount = () => 1 + Math.floor(Math.random() * 99_999) / 1000;
const day = () => `2026-03-${String(1 + Math.floor(Math.random() * 5)).padStart(2, '0')}`;
const paymentStatus = () => oneOf(['pending', 'completed', 'failed', 'refunded']);
const invoiceStatus = () => oneOf(['draft', 'sent', 'paid', 'overdue', 'cancelled']);
const currency = () => oneOf(['eur', 'eur', 'usd']);
const dayOrNone = () => oneOf([day(), null]);
const serviceStatus = () => oneOf(['draft', 'active', 'active', 'cancelled']);
const subscriptionStatus = () => oneOf(['active', 'trialing', 'past_due', 'cancelled']);
const some = (table: string) =>
  sql.raw(`id = (select id from ${table} where id > 1 offset floor(random() * 300) limit 1)`);

function change(): SQL {
  drawn += 1;
  return oneOf([
    () => sql`insert into payments (invoice_id, customer_id, amount, refunded_amount, payment_date, payment_reference, status, source, currency)
      values (${ids.invoice}, ${ids.customer}, ${amount()}, 0.5, ${day()}, ${`SUM-${drawn}`}, ${paymentStatus()}, 'api', ${currency()})`,
    () => sql`update payments set status = ${paymentStatus()} where ${some('payments')}`,
    () =>
      sql`update payments set payment_date = ${day()}, amount = ${amount()}, refunded_amount = 0 where ${some('payments')}`,
    () => sql`update payments set refunded_amount = amount where ${some('payments')}`,
    () => sql`delete from payments where ${some('payments')}`,
    () => sql`insert into invoices (number, customer_id, status, invoice_date, subtotal, tax, total, amount_due, currency)
      values (${`SUM-${drawn}`}, ${ids.customer}, ${invoiceStatus()}, ${day()}, 1, 0, 1, ${amount()}, ${currency()})`,
    () => sql`update invoices set status = ${invoiceStatus()} where ${some('invoices')}`,
    () =>
      sql`update invoices set amount_due = ${amount()}, currency = ${currency()} where ${some('invoices')}`,
    () => sql`delete from invoices where ${some('invoices')}`,
    () => sql`insert into customer_services (service_number, customer_id, service_type, status, name, price, currency, next_billing_date)
      values (${`SUM-${drawn}`}, ${ids.customer}, 'hosting', ${serviceStatus()}, 'x', ${amount()}, ${currency()}, ${dayOrNone()})`,
    () =>
      sql`update customer_services set status = ${serviceStatus()}, next_billing_date = ${dayOrNone()} where ${some('customer_services')}`,
    () =>
      sql`update customer_services set price = ${amount()}, ends_on = ${dayOrNone()} where ${some('customer_services')}`,
    () => sql`delete from customer_services where ${some('customer_services')}`,
  ])();
}

beforeAll(async () => {
  ids = {
    invoice: (await createInvoice(base.db, { status: 'paid' })).id,
    customer: (await createCustomer(base.db)).id,
  };
});

async function requireRight(): Promise<void> {
  const { sums, days } = await getMoneyReceived(base.db, TODAY, 90, 'eur');
  const received = sql`status = 'completed' or (status = 'refunded' and refunded_amount > 0)`;
  const part = sql`case status when 'completed' then amount else refunded_amount end`;
  const plain = await rows(
    base.db,
    sql`select currency, count(*)::int as count, sum(${part})::float as total from payments where ${received}
      group by currency order by count desc, currency`,
  );
  expect(sums.map(({ currency, count, total }) => ({ currency, count, total }))).toEqual(plain);
  const [first] = await rows<{ count: number }>(
    base.db,
    sql`select count(*)::int as count from payments where (${received}) and currency = 'eur' and payment_date = '2026-03-01'`,
  );
  expect(days.find(({ date }) => date === '2026-03-01')?.count).toBe(first?.count);
  const open = await rows(
    base.db,
    sql`select currency, count(*)::int as count, sum(amount_due)::float as total from invoices
      where status in ('sent', 'overdue') group by currency order by count desc, currency`,
  );
  expect((await sumOpenInvoices(base.db)).open).toEqual(open);
  for (const of of RENEWING) {
    expect(await sumRenewals(base.db, of, { from: '2026-03-02', to: '2026-03-04' })).toEqual(
      await rows(base.db, RENEWALS[of]),
    );
  }
}

const RENEWALS = {
  services: sql`select '2026-03-01' as month, currency, count(*)::int as count, sum(price)::float as total
    from customer_services where status = 'active' and ends_on is null
      and next_billing_date between '2026-03-02' and '2026-03-04'
    group by 1, 2 order by 3 desc, 2`,
  subscriptions: sql`select '2026-03-01' as month, i.currency, count(*)::int as count, sum(i.amount)::float as total
    from subscriptions s join subscription_items i on i.subscription_id = s.id
    where s.status <> 'cancelled' and s.cancel_at is null and not s.cancel_at_period_end
      and s.next_billing_date between '2026-03-02' and '2026-03-04' and i.amount is not null and i.currency is not null
    group by 1, 2 order by 3 desc, 2`,
};

test('sums are what rows add up to after many writers, some of whom took back what they wrote', async () => {
  let left = WRITES;
  const write = async () => {
    while (left > 0) {
      left -= 1;
      const isTakenBack = left % 10 === 0;
      const writing = base.db.transaction(async (tx) => {
        await tx.execute(change());
        if (isTakenBack) throw new RangeError('taken back');
      });
      await (isTakenBack ? expect(writing).rejects.toThrow('taken back') : writing);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  await requireRight();
});

test('items are added up on the day of their subscription, one writer after the other', async () => {
  const item = () => oneOf([null, currency()]);
  const writes = [
    () => sql`insert into subscriptions (customer_id, status, next_billing_date)
      values (${ids.customer}, ${subscriptionStatus()}, ${dayOrNone()})`,
    () => sql`insert into subscription_items (subscription_id, amount, currency)
      select id, ${amount()}, ${item()} from subscriptions order by random() limit 2`,
    () =>
      sql`update subscriptions set status = ${subscriptionStatus()}, next_billing_date = ${dayOrNone()} where ${some('subscriptions')}`,
    () =>
      sql`update subscriptions set cancel_at_period_end = ${oneOf([true, false, false])} where ${some('subscriptions')}`,
    () =>
      sql`update subscription_items set amount = ${amount()}, currency = ${item()} where ${some('subscription_items')}`,
    () => sql`update subscription_items set subscription_id = (select id from subscriptions order by random() limit 1)
      where ${some('subscription_items')}`,
    () => sql`delete from subscription_items where ${some('subscription_items')}`,
    () => sql`delete from subscriptions where ${some('subscriptions')}`,
  ];
  for (let left = 600; left > 0; left -= 1)
    await base.db.execute(oneOf([...writes, writes[1] as () => SQL])());
  await requireRight();
  await base.db.execute(sql`update subscriptions set next_billing_date = '2026-03-03', status = 'active'`);
  await base.db.execute(sql`delete from subscriptions where id % 3 = 0`);
  await requireRight();
});

test('renewals of rows that were there before there were sums of them are added up by a migration', async () => {
  await base.db.execute(sql`select rebuild_sums()`);
  await base.db.execute(sql`delete from sums where of like '%_renewals'`);
  await base.db.transaction((tx) => installFunctions(tx));
  await requireRight();
  expect(await checkCounts(base.db)).toEqual([]);
});

test('many rows at once are added up', async () => {
  await base.db.execute(sql`update payments set status = 'completed', payment_date = '2026-03-02'`);
  await base.db.execute(sql`delete from payments where id % 3 = 0`);
  await requireRight();
});

test('sums that went wrong are noticed, told, and added up anew', async () => {
  await base.db.execute(sql`select fold_sums()`);
  await base.db.execute(sql`update sums set amount = amount + 7`);
  expect(await checkCounts(base.db)).toEqual(['sums']);
  for await (const { list, wrong } of recountLists(base.db)) {
    expect(wrong.every(({ excess }) => excess === 7)).toBe(true);
    expect(wrong.length > 0).toBe(list === 'sums');
  }
  await base.db.execute(sql`update sums set amount = amount + 5000000000.5`);
  for await (const { list, wrong } of recountLists(base.db)) {
    expect(wrong.every(({ excess }) => excess === 5_000_000_000.5)).toBe(true);
    expect(wrong.length > 0).toBe(list === 'sums');
  }
  expect(await checkCounts(base.db)).toEqual([]);
  await requireRight();
  await base.db.execute(sql`truncate invoices cascade`);
  await requireRight();
});
