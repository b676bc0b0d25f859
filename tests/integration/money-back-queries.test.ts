import { eq } from 'drizzle-orm';
import { beforeAll, describe, expect, test } from 'vitest';
import { disputeStatus, payments, refundSource, refundStatus } from '@/db/schema';
import { parseEnv } from '@/lib/env';
import { invoiceList } from '@/lib/invoices/list';
import { listTasks } from '@/lib/overview/list-tasks';
import { getMoneyReceived, getOpenDisputes } from '@/lib/overview/money';
import { paymentList } from '@/lib/payments/list';
import {
  cameBack,
  listMoneyBack,
  ofCustomer,
  ofInvoice,
  ofPayment,
  raisesQuestion,
  type Which,
} from '@/lib/payments/money-back';
import { useDatabase } from '../support/database';
import {
  createDispute,
  createInvoice,
  createPayment,
  createRefund,
  createTransfer,
} from '../support/factories';

describe('refunds and disputes on the staff pages', () => {
  const base = useDatabase();
  const NOW = new Date('2026-03-15T12:00:00Z');
  const LONG_AGO = new Date('2026-01-01T12:00:00Z');
  type Created = Awaited<ReturnType<typeof createPayment>>;
  let [part, whole, disputed, won]: Created[] = [];

  beforeAll(async () => {
    const { db } = base;
    const { id: invoice_id, customer_id } = await createInvoice(db, { number: 'PART', amount_credited: '2' });
    const on = { invoice_id, customer_id };
    part = await createPayment(db, { ...on, payment_reference: 'PART', refunded_amount: '5' });
    await createPayment(db, { ...on, payment_reference: 'SAME' });
    const refunded = { refunded_amount: '10', status: 'refunded' } as const;
    whole = await createPayment(db, { payment_reference: 'WHOLE', ...refunded });
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

  const find = async (status: string) =>
    (await paymentList.page(base.db, paymentList.schema.parse({ status }), {})).data;

  test.each([
    ['refunded_in_part', ['PART 5']],
    ['refunded', ['WHOLE 10']],
    ['disputed', ['DISPUTED 0 disputed']],
    ['completed', ['WON 0', 'DISPUTED 0 disputed', 'SAME 0', 'PART 5']],
  ])('the payment list for the status %s is %j, with refunded amounts', async (status, expected) => {
    const shown = (await find(status)).map(({ payment_reference, refunded_amount, disputed: is }) =>
      [payment_reference, refunded_amount, ...(is ? ['disputed'] : [])].join(' '),
    );
    expect(shown).toEqual(expected);
  });

  test('the invoice list finds invoices with partly refunded payments', async () => {
    const filters = invoiceList.schema.parse({ status: 'refunded_in_part' });
    const place = { request: { page: 1, per_page: 25 }, start: {} };
    for (const sort of ['-date', '-amount'] as const) {
      const { data } = await invoiceList.read(base.db, { ...filters, sort }, place);
      expect(data).toMatchObject([{ number: 'PART', refunded_amount: 5, amount_credited: 2 }]);
    }
  });

  test('refunds and disputes of a payment, an invoice or a customer are listed latest first', async () => {
    const kinds = async (which: Which) =>
      (await listMoneyBack(base.db, which, 10)).map(({ kind, status }) => `${kind} ${status}`);
    const all = ['refund succeeded', 'dispute warning_closed'];
    expect(await kinds(ofPayment(part?.id ?? 0))).toEqual(all);
    expect(await kinds(ofInvoice(part?.invoice_id ?? 0))).toEqual(all);
    expect(await kinds(ofCustomer(part?.customer_id ?? 0))).toEqual(all);
    expect(await kinds(ofPayment(0))).toEqual([]);
  });

  test('the open disputes are counted, with the earliest evidence deadline of those that are unanswered', async () => {
    const next_due = new Date('2026-03-30T00:00:00Z');
    expect(await getOpenDisputes(base.db)).toEqual({ count: 2, unanswered: 1, next_due });
  });

  test('refunds and disputes that exceed their payment, differ from its currency or match no payment become tasks', async () => {
    const { db } = base;
    const tasks = () => listTasks(db, NOW, parseEnv({}));
    expect(await tasks()).toEqual([]);
    await createRefund(db);
    await createDispute(db, { status: 'won' });
    await createRefund(db, { status: 'failed' });
    await createRefund(db, { issued_at: LONG_AGO });
    await createRefund(db, { payment_id: won?.id ?? null, currency: 'usd' });
    await createDispute(db, { payment_id: whole?.id ?? null, status: 'lost' });
    expect((await tasks()).map(({ code, message }) => [code, message])).toEqual([
      ['money_back_excess', '1 payment has more refunded than was paid.'],
      ['money_back_currency', '1 refund or dispute is in a different currency from its payment.'],
      ['money_back_unmatched', '2 refunds and disputes have no matching payment.'],
    ]);
    const questions = ['excess', 'other_currency', 'unmatched'] as const;
    const listed = questions.map((question) => listMoneyBack(db, raisesQuestion(question, NOW), 10));
    const kinds = (await Promise.all(listed)).map((rows) => rows.map(({ kind }) => kind).join());
    expect(kinds).toEqual(['refund,dispute', 'refund', 'refund,dispute']);
  });
});

describe('money received per day', () => {
  const base = useDatabase();
  const AT = new Date('2026-03-12T23:30:00Z');

  /** The year of the latest payment by `paid`. Each has its own year, so that the tests do not affect each other. */
  let year = 1900;
  async function paid(amount: string, more = {}) {
    year += 2;
    const payment_date = `${year}-03-10`;
    return createPayment(base.db, { amount, payment_date, ...more });
  }
  const at = (day: string) => new Date(`${year}-${day}T23:30:00Z`);

  async function received(timeZone = 'UTC') {
    const found = await getMoneyReceived(base.db, { today: `${year}-03-31`, timeZone }, 90);
    const days = found.days.filter(({ count, total, returned }) => count || total || returned);
    return { ...found, days: days.map(({ date, ...sums }) => ({ date: date.slice(5), ...sums })) };
  }

  test('a refund reduces the money received of its own day, which depends on the time zone', async () => {
    const { id } = await paid('100', { status: 'refunded', refunded_amount: '100' });
    await createRefund(base.db, { payment_id: id, amount: '30', issued_at: at('03-12') });
    await createRefund(base.db, { payment_id: id, amount: '70', issued_at: at('03-20') });
    const { sums, days } = await received();
    expect(sums).toEqual([{ currency: 'eur', count: 1, total: 0, returned: 100 }]);
    expect(days).toEqual([
      { date: '03-10', count: 1, total: 100, returned: 0 },
      { date: '03-12', count: 0, total: -30, returned: 30 },
      { date: '03-20', count: 0, total: -70, returned: 70 },
    ]);
    expect((await received('Asia/Tokyo')).days.map(({ date }) => date)).toEqual(['03-10', '03-13', '03-21']);
  });

  test('a lost dispute reduces the money received of the day of its withdrawal, or else of the day it was opened', async () => {
    const { id } = await paid('10');
    const lost = { payment_id: id, status: 'lost' as const, amount: '4' };
    await createDispute(base.db, { ...lost, issued_at: at('03-12'), funds_withdrawn_at: at('03-14') });
    await createDispute(base.db, { ...lost, issued_at: at('03-15') });
    await createDispute(base.db, { payment_id: id, funds_withdrawn_at: at('03-16'), issued_at: at('03-16') });
    const days = (await received()).days.map(({ date, returned }) => `${date}: ${returned}`);
    expect(days).toEqual(['03-10: 0', '03-14: 4', '03-15: 4']);
  });

  test('refunds deduct at most the payment’s amount from the money received', async () => {
    const { id } = await paid('100', { payment_date: `${year + 2}-01-01` });
    await createRefund(base.db, { payment_id: id, amount: '80', issued_at: at('01-01') });
    await createRefund(base.db, { payment_id: id, amount: '15', issued_at: at('03-20') });
    await createRefund(base.db, { payment_id: id, amount: '15', issued_at: at('03-21') });
    expect(await getMoneyReceived(base.db, { today: `${year}-03-31`, timeZone: 'UTC' }, 30)).toMatchObject({
      sums: [{ currency: 'eur', count: 0, total: -20, returned: 20 }],
    });
    expect((await received()).days.slice(-2)).toMatchObject([{ returned: 15 }, { returned: 5 }]);
  });

  test('a refund in another currency than its payment, or without a completed one, does not reduce the money received', async () => {
    const { id } = await paid('100');
    await createRefund(base.db, { payment_id: id, currency: 'usd', issued_at: at('03-12') });
    const failed = await createPayment(base.db, { payment_date: `${year}-03-10`, status: 'failed' });
    await createRefund(base.db, { payment_id: failed.id, issued_at: at('03-12') });
    await createRefund(base.db, { payment_id: null, issued_at: at('03-12') });
    expect((await received()).sums).toEqual([{ currency: 'eur', count: 1, total: 100, returned: 0 }]);
    await paid('100', { status: 'refunded' }); // A refunded payment without a refund does not count as received.
    expect((await received()).sums).toEqual([]);
  });

  test('the unused credit of a transfer is money received on the day of the transfer', async () => {
    const { customer_id, payment_date } = await paid('30');
    await createTransfer(base.db, { customer_id, payment_date, amount: '100', credit: '70' });
    const { sums, days } = await received();
    expect(sums).toEqual([{ currency: 'eur', count: 1, total: 100, returned: 0 }]);
    expect(days).toEqual([{ date: '03-10', count: 1, total: 100, returned: 0 }]);
  });

  const common = { amount: '1', currency: 'eur', issued_at: AT };
  const funds = [
    { funds_withdrawn_at: null, funds_returned_at: null },
    { funds_withdrawn_at: AT, funds_returned_at: null },
    { funds_withdrawn_at: AT, funds_returned_at: AT },
  ];
  test.each<Parameters<typeof cameBack>[1]>([
    ...refundStatus.enumValues.flatMap((status) =>
      refundSource.enumValues.map((source) => ({ refunds: [{ ...common, status, source }], disputes: [] })),
    ),
    ...disputeStatus.enumValues.flatMap((status) =>
      funds.map((moved) => ({ refunds: [], disputes: [{ ...common, status, ...moved }] })),
    ),
  ])('SQL and the function cameBack deduct the same amount for %j', async (known) => {
    const payment = await createPayment(base.db, { payment_date: '2026-03-10' });
    const { id: payment_id } = payment;
    for (const refund of known.refunds) await createRefund(base.db, { ...refund, payment_id });
    for (const dispute of known.disputes) await createDispute(base.db, { ...dispute, payment_id });
    const { sums } = await getMoneyReceived(base.db, { today: '2026-03-31', timeZone: 'UTC' }, 30);
    expect(sums[0]?.returned).toBe(Number(cameBack(payment, known).refunded));
    await base.db.update(payments).set({ status: 'failed' }).where(eq(payments.id, payment_id));
  });
});
