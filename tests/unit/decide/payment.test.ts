import { describe, expect, test } from 'vitest';
import { applyPayment, type Collected } from '@/lib/sync/decide/invoice/payment';
import type { StoredInvoice, StoredPayment } from '@/lib/sync/store/rows';
import { draftOf } from '../../support/draft';

const REFERENCE = 'in_1';
const INVOICE = {
  id: 7,
  customer_id: 3,
  currency: 'eur',
  amount_paid: '119.000',
  amount_off_stripe: null,
} as unknown as StoredInvoice;

const PAYMENT = {
  id: 5,
  invoice_id: 7,
  customer_id: 3,
  amount: '119.000',
  currency: 'eur',
  payment_date: '2026-03-14',
  payment_reference: REFERENCE,
  refunded_amount: '0.000',
  status: 'completed',
  source: 'stripe',
  provider_amount: '119.000',
  provider_payment_date: '2026-03-14',
  stripe_payment_intent_id: 'pi_1',
  version: 0,
} as unknown as StoredPayment;

const collected = (amountPaid: string, amountOffStripe: string | null = null): Collected => ({
  amountPaid,
  amountOffStripe,
  paidAt: new Date('2026-03-15T23:30:00Z'),
  paymentIntentId: 'pi_1',
});

interface Given {
  stored?: Partial<StoredPayment>;
  invoice?: Partial<StoredInvoice>;
  isBuried?: boolean;
}

function paymentAfter(what: Collected, { stored, invoice, isBuried = false }: Given = {}) {
  const draft = draftOf({
    rows: stored ? { payments: new Map([[PAYMENT.id, { ...PAYMENT, ...stored }]]) } : {},
    tombstones: new Set(isBuried ? [REFERENCE] : []),
    settings: { timeZone: 'Europe/Berlin' },
  });
  applyPayment(draft, REFERENCE, { ...INVOICE, ...invoice }, what);
  const [row, ...others] = draft.payments.all();
  expect(others).toEqual([]);
  return { row, changes: draft.changes.map(({ field }) => field), warnings: [...draft.warnings] };
}

describe('a payment that nobody has recorded', () => {
  test('is what Stripe collected, on the day of the time zone', () => {
    const { row, changes } = paymentAfter(collected('119.000'));
    expect(row).toMatchObject({
      invoice_id: 7,
      customer_id: 3,
      amount: '119.000',
      provider_amount: '119.000',
      payment_date: '2026-03-16',
      payment_reference: REFERENCE,
      source: 'stripe',
      status: 'completed',
      stripe_payment_intent_id: 'pi_1',
    });
    expect(changes).toEqual(['created']);
  });

  test.each<[string, Collected, Given, string | undefined]>([
    ['is less what was paid outside Stripe', collected('119.000', '19.000'), {}, '100.000'],
    [
      'is less what is known of that',
      collected('119.000'),
      { invoice: { amount_off_stripe: '19.000' } },
      '100.000',
    ],
    [
      'is not, where that was known of another amount',
      collected('130.000'),
      { invoice: { amount_off_stripe: '19.000' } },
      '130.000',
    ],
    ['is none where all was paid outside Stripe', collected('119.000', '119.000'), {}, undefined],
    ['is none where nothing was paid', collected('0.000'), {}, undefined],
    ['is none where somebody deleted it', collected('119.000'), { isBuried: true }, undefined],
  ])('%s', (_, what, given, amount) => {
    expect(paymentAfter(what, given).row?.amount).toBe(amount);
  });
});

describe('a payment that is recorded', () => {
  test.each<[string, Collected, Partial<StoredPayment>, Partial<StoredPayment>]>([
    ['stays as it is', collected('119.000'), {}, { amount: '119.000', payment_date: '2026-03-14' }],
    ['grows', collected('150.000'), {}, { amount: '150.000', payment_date: '2026-03-16' }],
    [
      'keeps the date that somebody gave it',
      collected('150.000'),
      { payment_date: '2026-03-10' },
      { amount: '150.000', payment_date: '2026-03-10' },
    ],
    [
      'keeps the amount that somebody gave it',
      collected('150.000'),
      { amount: '50.000' },
      { amount: '50.000' },
    ],
    ['shrinks by what was paid outside Stripe', collected('119.000', '19.000'), {}, { amount: '100.000' }],
    ['does not shrink while that is unknown', collected('100.000'), {}, { amount: '119.000' }],
  ])('by Stripe %s', (_, what, stored, expected) => {
    expect(paymentAfter(what, { stored }).row).toMatchObject(expected);
  });

  test.each(['api', 'staff', 'import'] as const)('by %s is left alone, and reported', (source) => {
    const { row, warnings } = paymentAfter(collected('150.000'), { stored: { source } });
    expect(row?.amount).toBe('119.000');
    expect(warnings).toEqual([`payment 5 already has the reference ${REFERENCE}`]);
  });
});
