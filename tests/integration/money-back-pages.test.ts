import { beforeAll, describe, expect, test } from 'vitest';
import { parseEnv } from '@/lib/env';
import { listInvoicesForStaff } from '@/lib/invoices/list-for-staff';
import { invoiceStaffFilters } from '@/lib/invoices/staff-filters';
import { listTasks } from '@/lib/overview/list-tasks';
import { getOpenDisputes } from '@/lib/overview/open-disputes';
import { listPaymentsForStaff } from '@/lib/payments/list-for-staff';
import { raising } from '@/lib/payments/money-back-questions';
import { listMoneyBack, ofCustomer, ofInvoice, ofPayment, type Which } from '@/lib/payments/money-back-rows';
import { staffFilters } from '@/lib/payments/staff-filters';
import { useDatabase } from '../support/database';
import { createDispute, createInvoice, createPayment, createRefund } from '../support/factories';

const base = useDatabase();
const NOW = new Date('2026-03-15T12:00:00Z');
const LONG_AGO = new Date('2026-01-01T12:00:00Z');
type Created = Awaited<ReturnType<typeof createPayment>>;
let [part, whole, disputed, won]: Created[] = [];

beforeAll(async () => {
  const { db } = base;
  const invoice = await createInvoice(db, { number: 'PART', amount_credited: '2' });
  const on = { invoice_id: invoice.id, customer_id: invoice.customer_id };
  part = await createPayment(db, { ...on, payment_reference: 'PART', refunded_amount: '5' });
  await createPayment(db, { ...on, payment_reference: 'SAME' });
  whole = await createPayment(db, {
    payment_reference: 'WHOLE',
    refunded_amount: '10',
    status: 'refunded',
  });
  disputed = await createPayment(db, { payment_reference: 'DISPUTED' });
  won = await createPayment(db, { payment_reference: 'WON' });
  await createRefund(db, { payment_id: part.id, issued_at: new Date('2026-03-13T12:00:00Z') });
  await createDispute(db, { payment_id: part.id, status: 'warning_closed' });
  await createRefund(db, { payment_id: whole.id, amount: '10' });
  const evidence_due_at = new Date('2026-03-30T00:00:00Z');
  await createDispute(db, { payment_id: disputed.id, evidence_due_at });
  await createDispute(db, { payment_id: disputed.id, status: 'under_review', evidence_due_at: LONG_AGO });
  await createDispute(db, { payment_id: won.id, status: 'won' });
});

describe('lists of payments', () => {
  const find = async (status: string) =>
    (await listPaymentsForStaff(base.db, staffFilters.parse({ status }), {})).data;

  test.each([
    ['refunded_in_part', ['PART']],
    ['refunded', ['WHOLE']],
    ['disputed', ['DISPUTED']],
    ['completed', ['WON', 'DISPUTED', 'SAME', 'PART']],
  ])('%s finds %j', async (status, expected) => {
    expect((await find(status)).map(({ payment_reference }) => payment_reference)).toEqual(expected);
  });

  test('say of each whether it is disputed, and what came back', async () => {
    const found = await find('completed');
    expect(found.map(({ disputed: is, refunded_amount }) => [Boolean(is), refunded_amount])).toEqual([
      [false, 0],
      [true, 0],
      [false, 0],
      [false, 5],
    ]);
  });
});

test('invoices are found by what came back of their payments in part, and say it', async () => {
  const filters = invoiceStaffFilters.parse({ status: 'refunded_in_part' });
  const place = { request: { page: 1, per_page: 25 }, start: {} };
  for (const sort of ['-date', '-amount'] as const) {
    const { data } = await listInvoicesForStaff(base.db, { ...filters, sort }, place);
    expect(data).toMatchObject([{ number: 'PART', refunded_amount: 5, amount_credited: 2 }]);
  }
});

describe('refunds and disputes', () => {
  const kinds = async (which: Which) =>
    (await listMoneyBack(base.db, which, 10)).map(({ kind, status }) => `${kind} ${status}`);

  test('of a payment, an invoice and a customer are listed, the latest first', async () => {
    const all = ['refund succeeded', 'dispute warning_closed'];
    expect(await kinds(ofPayment(part?.id ?? 0))).toEqual(all);
    expect(await kinds(ofInvoice(part?.invoice_id ?? 0))).toEqual(all);
    expect(await kinds(ofCustomer(part?.customer_id ?? 0))).toEqual(all);
    expect(await kinds(ofPayment(0))).toEqual([]);
  });

  test('open disputes are counted, with the first answer that is due', async () => {
    expect(await getOpenDisputes(base.db)).toEqual({
      count: 2,
      unanswered: 1,
      next_due: new Date('2026-03-30T00:00:00Z'),
    });
  });
});

describe('what a person should look at', () => {
  const tasks = () => listTasks(base.db, NOW, parseEnv({}));

  test('is nothing while all of it fits its payment', async () => {
    expect(await tasks()).toEqual([]);
  });

  test('is what belongs to no payment, is too much, or is in another currency', async () => {
    const { db } = base;
    await createRefund(db);
    await createDispute(db, { status: 'won' });
    await createRefund(db, { status: 'failed' });
    await createRefund(db, { issued_at: LONG_AGO });
    await createRefund(db, { payment_id: won?.id ?? null, currency: 'usd' });
    await createDispute(db, { payment_id: whole?.id ?? null, status: 'lost' });
    expect(await tasks()).toEqual([
      { code: 'money_back_excess', message: '1 payment has more refunded than was paid.' },
      {
        code: 'money_back_currency',
        message: '1 refund or dispute is in a different currency from its payment.',
      },
      {
        code: 'money_back_unmatched',
        message: '2 refunds and disputes have no matching payment.',
      },
    ]);
    const found = async (question: Parameters<typeof raising>[0]) =>
      (await listMoneyBack(db, raising(question, NOW), 10)).map(({ kind }) => kind);
    expect(await found('excess')).toEqual(['refund', 'dispute']);
    expect(await found('other_currency')).toEqual(['refund']);
    expect(await found('unmatched')).toEqual(['refund', 'dispute']);
  });
});
