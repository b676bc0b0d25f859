import { describe, expect, test } from 'vitest';
import type { ProviderSubscription } from '@/lib/stripe/provider';
import { toProviderSubscription } from '@/lib/stripe/to-subscription';
import { endOf, toSubscriptionState } from '@/lib/sync/decide/subscription/subscription-state';
import type { StoredSubscription } from '@/lib/sync/store/rows';
import { draftOf } from '../../support/draft';

const second = (date: string) => Date.parse(`${date}T23:30:00Z`) / 1000;
const at = (date: string) => new Date(second(date) * 1000);

/** What is stored where nothing is known yet. */
const STORED = {
  status: 'incomplete',
  next_billing_date: '2025-12-31',
  ended_at: null,
  checkout_completed_at: null,
  stripe_customer_id: null,
} as unknown as StoredSubscription;

function reported(object: object): ProviderSubscription {
  const made = toProviderSubscription({ id: 'sub_1', status: 'active', customer: 'cus_1', ...object });
  if (!made) throw new Error('this is a subscription');
  return made;
}

const items = (...ends: (string | null)[]) => ({
  items: {
    data: ends.map((end, i) => ({
      id: `si_${i}`,
      quantity: 1,
      ...(end && { current_period_end: second(end) }),
    })),
  },
});

function stateOf(object: object, stored: Partial<StoredSubscription> = {}, timeZone = 'UTC') {
  const draft = draftOf({ settings: { timeZone } });
  const state = toSubscriptionState(draft, { ...STORED, ...stored }, reported(object), at('2026-03-01'));
  return { ...state, warnings: [...draft.warnings] };
}

describe('the next billing date', () => {
  test.each<[string, object, string]>([
    ['is the end of the only period', items('2026-04-01'), '2026-04-01'],
    ['is the earliest of several', items('2026-05-01', '2026-04-01', '2026-06-01'), '2026-04-01'],
    ['leaves out items without a period', items(null, '2026-04-01'), '2026-04-01'],
    [
      'is the subscription’s, where no item has one',
      { ...items(null), current_period_end: second('2026-07-01') },
      '2026-07-01',
    ],
    ['stays where Stripe reports none', items(), '2025-12-31'],
  ])('%s', (_, object, expected) => {
    expect(stateOf(object).next_billing_date).toBe(expected);
  });

  test('is a date of the time zone', () => {
    expect(stateOf(items('2026-04-01'), {}, 'Europe/Berlin').next_billing_date).toBe('2026-04-02');
  });
});

describe('the status', () => {
  const paid = { checkout_completed_at: at('2026-03-02') };
  test.each<[string, string, Partial<StoredSubscription>, string]>([
    ['is Stripe’s', 'past_due', {}, 'past_due'],
    ['is cancelled where the first payment never came', 'incomplete_expired', {}, 'cancelled'],
    ['is cancelled as Stripe spells it', 'canceled', {}, 'cancelled'],
    ['is active after a checkout that was completed since', 'incomplete', paid, 'active'],
    [
      'is not, after one that was completed before',
      'incomplete',
      { checkout_completed_at: at('2026-02-01') },
      'incomplete',
    ],
    ['of a checkout does not outweigh Stripe’s', 'unpaid', paid, 'unpaid'],
    ['stays where nobody knows Stripe’s', 'hibernating', { status: 'trialing' }, 'trialing'],
  ])('%s', (_, status, stored, expected) => {
    const { warnings, ...state } = stateOf({ status }, stored);
    expect(state.status).toBe(expected);
    expect(warnings).toEqual(status === 'hibernating' ? ['unknown subscription status hibernating'] : []);
  });

  test('is cancelled once Stripe has deleted it, with the earliest end that is known', () => {
    const deletedAt = at('2026-03-09');
    expect(endOf(STORED, reported({}), deletedAt)).toEqual({ status: 'cancelled', ended_at: deletedAt });
    const known = { ...STORED, ended_at: at('2026-03-08') };
    expect(endOf(known, reported({}), deletedAt).ended_at).toEqual(at('2026-03-08'));
    const ended = reported({ ended_at: second('2026-03-07') });
    expect(endOf(known, ended, deletedAt).ended_at).toEqual(at('2026-03-07'));
  });
});

test('a subscription that lives again has no end', () => {
  const stored = { status: 'cancelled', ended_at: at('2026-03-01') } as const;
  expect(stateOf({ status: 'active' }, stored).ended_at).toBeNull();
  expect(stateOf({ status: 'canceled' }, stored).ended_at).toEqual(at('2026-03-01'));
});

test('it keeps the Stripe customer that it has', () => {
  expect(stateOf({}).stripe_customer_id).toBe('cus_1');
  expect(stateOf({}, { stripe_customer_id: 'cus_0' }).stripe_customer_id).toBe('cus_0');
});
