import { eq } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import { disputeStatus, payments, refundSource, refundStatus } from '@/db/schema';
import { getMoneyReceived } from '@/lib/overview/money-received';
import { cameBack } from '@/lib/payments/came-back';
import { useDatabase } from '../support/database';
import { createDispute, createPayment, createRefund } from '../support/factories';

const base = useDatabase();
const AT = new Date('2026-03-12T23:30:00Z');

/** A payment of a year of its own: years do not see each other's. */
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

describe('what came back is taken off', () => {
  test('on its own day, in the zone of the service, and the day of the payment stays', async () => {
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

  test('of a lost dispute on the day on which the funds were withdrawn', async () => {
    const { id } = await paid('10');
    const lost = { payment_id: id, status: 'lost' as const, amount: '4' };
    await createDispute(base.db, { ...lost, issued_at: at('03-12'), funds_withdrawn_at: at('03-14') });
    await createDispute(base.db, { ...lost, issued_at: at('03-15') });
    await createDispute(base.db, { payment_id: id, funds_withdrawn_at: at('03-16'), issued_at: at('03-16') });
    const { days } = await received();
    expect(days.map(({ date, returned }) => [date, returned])).toEqual([
      ['03-10', 0],
      ['03-14', 4],
      ['03-15', 4],
    ]);
  });

  test('never more than was paid, whatever came before the period', async () => {
    const { id } = await paid('100', { payment_date: `${year + 2}-01-01` });
    await createRefund(base.db, { payment_id: id, amount: '80', issued_at: at('01-01') });
    await createRefund(base.db, { payment_id: id, amount: '15', issued_at: at('03-20') });
    await createRefund(base.db, { payment_id: id, amount: '15', issued_at: at('03-21') });
    expect(await getMoneyReceived(base.db, { today: `${year}-03-31`, timeZone: 'UTC' }, 30)).toMatchObject({
      sums: [{ currency: 'eur', count: 0, total: -20, returned: 20 }],
    });
    expect((await received()).days.slice(-2)).toMatchObject([{ returned: 15 }, { returned: 5 }]);
  });

  test('in the currency of the payment alone, and only of one that was received', async () => {
    const { id } = await paid('100');
    await createRefund(base.db, { payment_id: id, currency: 'usd', issued_at: at('03-12') });
    const failed = await createPayment(base.db, { payment_date: `${year}-03-10`, status: 'failed' });
    await createRefund(base.db, { payment_id: failed.id, issued_at: at('03-12') });
    await createRefund(base.db, { payment_id: null, issued_at: at('03-12') });
    expect((await received()).sums).toEqual([{ currency: 'eur', count: 1, total: 100, returned: 0 }]);
  });

  test('of a payment noted as refunded, without a refund, nothing counts', async () => {
    await paid('100', { status: 'refunded' });
    expect((await received()).sums).toEqual([]);
  });
});

test('it counts what `cameBack` counts, of every status and source', async () => {
  const common = { amount: '1', currency: 'eur', issued_at: AT };
  for (const status of refundStatus.enumValues) {
    for (const source of refundSource.enumValues) {
      await expectSame({ refunds: [{ ...common, status, source }], disputes: [] });
    }
  }
  for (const status of disputeStatus.enumValues) {
    for (const [withdrawn, returned] of [
      [null, null],
      [AT, null],
      [AT, AT],
    ]) {
      const funds = { funds_withdrawn_at: withdrawn ?? null, funds_returned_at: returned ?? null };
      await expectSame({ refunds: [], disputes: [{ ...common, status, ...funds }] });
    }
  }
}, 60_000);

type Known = Parameters<typeof cameBack>[1];

async function expectSame(known: Known): Promise<void> {
  const payment = await createPayment(base.db, { payment_date: '2026-03-10' });
  const { id: payment_id } = payment;
  for (const refund of known.refunds) await createRefund(base.db, { ...refund, payment_id });
  for (const dispute of known.disputes) await createDispute(base.db, { ...dispute, payment_id });
  const { sums } = await getMoneyReceived(base.db, { today: '2026-03-31', timeZone: 'UTC' }, 30);
  expect([known, sums[0]?.returned]).toEqual([known, Number(cameBack(payment, known).refunded)]);
  await base.db.update(payments).set({ status: 'failed' }).where(eq(payments.id, payment_id));
}
