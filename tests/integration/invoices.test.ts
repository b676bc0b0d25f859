import { expect, test } from 'vitest';
import { invoiceStatus, invoices } from '@/db/schema';
import { commandActor } from '@/lib/audit/audit-log';
import { toCalendarDate } from '@/lib/dates';
import { listCustomerCredits } from '@/lib/invoices/customer-balances';
import { sumUnpaidInvoices } from '@/lib/invoices/queries';
import { findLastReminder, noteReminder, undoReminder } from '@/lib/invoices/reminders';
import { settledAfter } from '@/lib/invoices/settle';
import { unpaidStatus } from '@/lib/overdue';
import { findPayableInvoice, findPayableInvoices } from '@/lib/payments/list';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import { syncDeps } from '@/lib/sync/sync-deps';
import { readRows, useDatabase } from '../support/database';
import { createCustomer, createInvoice } from '../support/factories';
import { problemsOf } from '../support/problems';
import { testRuntime } from '../support/runtime';

const base = useDatabase();

test('a customer’s unpaid amount is the sum of the amounts due of sent and overdue invoices', async () => {
  const customer = await createCustomer(base.db);
  const due = { sent: '0.10', overdue: '0.20', paid: '5', draft: '5', cancelled: '5' };
  for (const status of invoiceStatus.enumValues)
    await createInvoice(base.db, { customer_id: customer.id, status, amount_due: due[status] });
  await createInvoice(base.db);
  const expected = { currency: 'eur', count: 2, total: 0.3, other_currencies: [] };
  expect(await sumUnpaidInvoices(base.db, customer)).toEqual(expected);
});

test('a customer’s unpaid amount is in the customer’s own currency unless all unpaid invoices are in others', async () => {
  const customer = await createCustomer(base.db, { currency: 'chf' });
  const sum = () => sumUnpaidInvoices(base.db, customer);
  expect(await sum()).toEqual({ currency: 'chf', count: 0, total: 0, other_currencies: [] });
  const create = (currency: string) => createInvoice(base.db, { customer_id: customer.id, currency });
  for (const currency of ['jpy', 'eur', 'eur']) await create(currency);
  expect(await sum()).toEqual({
    ...{ currency: 'eur', count: 2, total: 238 },
    other_currencies: [{ currency: 'jpy', count: 1, total: 119 }],
  });
  await create('chf');
  expect(await sum()).toMatchObject({ currency: 'chf', count: 1 });
});

test('a customer’s credit in a currency is the amount overpaid on invoices that Stripe does not manage', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  const status = 'paid' as const;
  const over = { customer_id, status, total: '100', amount_due: '0', amount_paid: '120.5' };
  const others = { customer_id: (await createCustomer(base.db)).id };
  const managed = { stripe_invoice_id: 'in_over' };
  for (const other of [{}, { amount_paid: '100' }, { currency: 'chf' }, managed, others]) {
    await createInvoice(base.db, { ...over, ...other });
  }
  expect(await listCustomerCredits(base.db, customer_id)).toEqual([
    { currency: 'chf', amount: 20.5 },
    { currency: 'eur', amount: 20.5 },
  ]);
});

test('undoing the second reminder of a day, even twice, keeps the first reminder of that day', async () => {
  const { id: customer_id } = await createCustomer(base.db);
  const today = '2026-11-29';
  const overdue = { customer_id, status: 'overdue' as const, due_date: '2026-10-01' };
  const rules = { days: [7, 21, 35], pause: 10 };
  const writer = { actor: commandActor('remind'), now: new Date(`${today}T12:00:00Z`), timeZone: 'UTC' };
  const first = await createInvoice(base.db, overdue);
  await noteReminder(base.db, customer_id, [first.id], rules, writer);
  const second = await createInvoice(base.db, overdue);
  await noteReminder(base.db, customer_id, [second.id], rules, writer);
  const undo = async () => {
    const last = (await findLastReminder(base.db, customer_id)) ?? expect.fail();
    return () => problemsOf(undoReminder(base.db, customer_id, last, writer));
  };
  const undoSecond = await undo();
  expect([await undoSecond(), await undoSecond()]).toEqual([[], ['conflict']]);
  const last = await findLastReminder(base.db, customer_id);
  expect(last?.invoices).toMatchObject([{ id: first.id, level: 1 }]);
  expect(await (await undo())()).toEqual([]);
  expect(await findLastReminder(base.db, customer_id)).toBeNull();
});

const DUE_DATES = [null, '2026-03-14', '2026-03-15', '2026-03-16'];

test.each([
  ['2026-03-15T12:00:00Z', 'UTC'],
  ['2026-03-15T09:30:00Z', 'Pacific/Pago_Pago'],
  ['2026-03-15T12:00:00Z', 'Pacific/Kiritimati'],
])('the local calendar day decides which invoices are overdue at %s in %s', async (instant, zone) => {
  await base.db.delete(invoices);
  const { id: customer_id } = await createCustomer(base.db);
  const { enumValues } = invoiceStatus;
  const cases = enumValues.flatMap((status) => DUE_DATES.map((due_date) => ({ status, due_date })));
  for (const one of cases) await createInvoice(base.db, { customer_id, ...one });
  const now = new Date(instant);
  const today = toCalendarDate(now, zone);
  const runtime = testRuntime(base.db, { now, env: { APP_TIMEZONE: zone } });
  await reconcile(syncDeps(runtime), { trigger: 'cli', startedBy: null });
  const found = await readRows(base.db, invoices);
  const sent = cases.map((one) => (one.status === 'sent' ? unpaidStatus(one, today) : one.status));
  expect(found.map(({ status }) => status)).toEqual(sent);

  const unpaid = { before: 0, after: 0 };
  const settled = found.map((row) => settledAfter(row, unpaid, { today, now }).status);
  expect(settled).toEqual(
    cases.map((one) => (/draft|cancelled/.test(one.status) ? one.status : unpaidStatus(one, today))),
  );
});

test('the lookup of an invoice to pay is refused if the invoice is unknown, ambiguous, a draft or cancelled', async () => {
  const { db } = base;
  const draft = await createInvoice(db, { number: null, status: 'draft' });
  await createInvoice(db, { number: 'C-1', status: 'cancelled' });
  const one = await createInvoice(db, { number: 'T-1', stripe_invoice_id: 'in_t1' });
  const two = await createInvoice(db, { number: 'T-1', stripe_invoice_id: 'in_t2' });
  for (const [text, message] of [
    ['nope', 'there is no such invoice'],
    ['#0', 'there is no such invoice'],
    ['\u0000', 'must not contain control characters'],
    [`#${draft.id}`, 'is draft and cannot be paid'],
    ['C-1', 'is cancelled and cannot be paid'],
    ['T-1', `enter one of #${one.id}, #${two.id}`],
  ] as const) {
    await expect(findPayableInvoice(db, text)).rejects.toMatchObject({
      fields: [{ field: 'invoice', message: expect.stringContaining(message) }],
    });
  }
  expect((await findPayableInvoice(db, `#${two.id}`)).invoice.id).toBe(two.id);
});

test('the search for payable invoices finds them by customer, number or amount, and lists unpaid ones first', async () => {
  const named = { company: 'Zitronengras AG', customer_number: 'K-ZIT' };
  const { id: customer_id } = await createCustomer(base.db, named);
  const create = (number: string, values: Parameters<typeof createInvoice>[1]) =>
    createInvoice(base.db, { customer_id, total: '392', amount_due: '392', number, ...values });
  await create('ZG-2026-0007', { status: 'paid', amount_due: '0' });
  await create('ZG-2026-0009', { status: 'sent', due_date: '2026-04-01' });
  await create('ZG-2026-0008', { status: 'overdue', due_date: '2026-03-01' });
  await create('ZG-2026-0006', { status: 'cancelled' });
  const all = ['ZG-2026-0008', 'ZG-2026-0009', 'ZG-2026-0007'];
  for (const [texts, expected] of [
    [['zitronen', 'K-ZIT', 'ZG-2026'], all],
    [['392.00', '392,00', '392', '€392.00', '392 EUR', '26-000'], all.slice(0, 2)],
    [['26-0009'], ['ZG-2026-0009']],
    [['', '%', 'no such thing', '\u0000'], []],
  ] as const) {
    for (const text of texts) {
      const found = await findPayableInvoices(base.db, text);
      expect([text, found.map(({ number }) => number)]).toEqual([text, expected]);
    }
  }
});
