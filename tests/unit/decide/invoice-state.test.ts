import { describe, expect, test } from 'vitest';
import type { ProviderInvoice } from '@/lib/stripe/provider';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { furthestOfSecond } from '@/lib/sync/decide/invoice/furthest-of-second';
import { toInvoiceState } from '@/lib/sync/decide/invoice/invoice-state';
import type { StoredInvoice } from '@/lib/sync/store/rows';
import { draftOf, NOW } from '../../support/draft';

const second = (date: string) => Date.parse(`${date}T12:00:00Z`) / 1000;
const FAILED = new Date('2026-03-01T00:00:00Z');

const STORED = {
  status: 'draft',
  invoice_date: '2026-01-01',
  payment_failed_at: null,
  uncollectible: false,
  paid_at: null,
  amount_paid: '0.000',
  amount_off_stripe: null,
  amount_credited: '0.000',
  stripe_customer_id: null,
} as unknown as StoredInvoice;

const json = (object: object) => ({
  id: 'in_1',
  object: 'invoice',
  status: 'open',
  currency: 'eur',
  customer: 'cus_1',
  total: 11900,
  amount_due: 11900,
  amount_paid: 0,
  ...object,
});

function reported(object: object): ProviderInvoice {
  const made = toProviderInvoice(json(object));
  if (!made) throw new Error('this is an invoice');
  return made;
}

function stateOf(object: object, stored: Partial<StoredInvoice> = {}) {
  const draft = draftOf();
  return {
    ...toInvoiceState(draft, { ...STORED, ...stored }, reported(object)),
    warnings: [...draft.warnings],
  };
}

// It is 15 March.
describe('the status', () => {
  test.each<[string, object, Partial<StoredInvoice>, StoredInvoice['status']]>([
    ['of a draft', { status: 'draft' }, {}, 'draft'],
    ['of one that is paid', { status: 'paid' }, {}, 'paid'],
    ['of one that is void', { status: 'void' }, {}, 'cancelled'],
    ['of an open one that is never due', {}, {}, 'sent'],
    ['of an open one that is due today', { due_date: second('2026-03-15') }, {}, 'sent'],
    ['of an open one that was due yesterday', { due_date: second('2026-03-14') }, {}, 'overdue'],
    ['of an open one whose payment failed', {}, { payment_failed_at: FAILED }, 'overdue'],
    ['of one that was written off', { status: 'uncollectible' }, {}, 'overdue'],
    ['of a paid one whose payment failed before', { status: 'paid' }, { payment_failed_at: FAILED }, 'paid'],
    ['that nobody knows: as it was', { status: 'parked' }, { status: 'sent' }, 'sent'],
    [
      'that nobody knows, after a failed payment',
      { status: 'parked' },
      { status: 'sent', payment_failed_at: FAILED },
      'overdue',
    ],
  ])('%s', (_, object, stored, expected) => {
    const { status, warnings } = stateOf(object, stored);
    expect(status).toBe(expected);
    expect(warnings).toEqual('status' in object && object.status === 'parked' ? [UNKNOWN] : []);
  });
  const UNKNOWN = 'unknown invoice status parked';
});

describe('what stays', () => {
  test('the first time that a payment failed', () => {
    const failing = { ...reported({}), paymentFailed: true };
    const failedAt = (stored: Partial<StoredInvoice>) =>
      toInvoiceState(draftOf(), { ...STORED, ...stored }, failing).payment_failed_at;
    expect(failedAt({})).toEqual(NOW);
    expect(failedAt({ payment_failed_at: FAILED })).toEqual(FAILED);
  });

  test('what is known to be paid outside Stripe, until another amount is paid', () => {
    const known = { amount_paid: '119.000', amount_off_stripe: '19.000' };
    expect(stateOf({ status: 'paid', amount_paid: 11900 }, known).amount_off_stripe).toBe('19.000');
    expect(stateOf({ status: 'paid', amount_paid: 12000 }, known).amount_off_stripe).toBeNull();
  });

  test('that it was written off, where Stripe’s status is unknown', () => {
    expect(stateOf({ status: 'parked' }, { uncollectible: true }).uncollectible).toBe(true);
    expect(stateOf({ status: 'open' }, { uncollectible: true }).uncollectible).toBe(false);
  });
});

describe('of several payloads of one second', () => {
  const second = new Date('2026-03-15T10:00:00Z');

  test.each<[string[], string]>([
    [['open', 'draft'], 'open'],
    [['open', 'uncollectible'], 'uncollectible'],
    [['paid', 'open', 'uncollectible'], 'paid'],
    [['paid', 'void'], 'void'],
    [['parked', 'draft'], 'parked'],
  ])('%s: the furthest on is %s, in whatever order they came', (statuses, expected) => {
    for (const order of [statuses, statuses.toReversed()]) {
      const draft = draftOf();
      for (const status of order) {
        const id = `evt_${status}`;
        const payload = JSON.stringify({
          id,
          type: 'invoice.finalized',
          created: second.getTime() / 1000,
          data: { object: json({ status }) },
        });
        const inbox = { outcome: 'processed' as const, attempts: 1, checkout: null, isStorable: true };
        draft.arrived.set(id, { id, payload, ...inbox });
      }
      expect(furthestOfSecond(draft, reported({}), second).providerStatus).toBe(expected);
    }
  });
});
