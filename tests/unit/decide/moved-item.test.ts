import { expect, test } from 'vitest';
import { toProviderSubscription } from '@/lib/stripe/to-subscription';
import type { Answers } from '@/lib/sync/decide/draft';
import { isStillIn } from '@/lib/sync/decide/subscription/moved-item';
import type { StoredItem, StoredSubscription } from '@/lib/sync/store/rows';
import { draftOf, NOW } from '../../support/draft';

const at = (second: number) => new Date(Date.UTC(2026, 2, 15, 10, 0, second));
const OTHER = {
  id: 4,
  stripe_subscription_id: 'sub_other',
  stripe_customer_id: 'cus_1',
  provider_as_of: at(5),
  recheck_at: null,
} as unknown as StoredSubscription;

const shows = (...items: string[]) =>
  (() => ({
    state: 'found',
    object: toProviderSubscription({ id: 'sub_other', items: { data: items.map((id) => ({ id })) } }),
    asOf: at(9),
  })) as unknown as Answers;
const gone = (() => ({ state: 'gone' })) as unknown as Answers;

/** @param asOf the time of the state that also shows the item */
function look({ asOf, items = 1, answers }: { asOf: Date; items?: number; answers?: Answers }) {
  const stored = Array.from({ length: items }, (_, i) => ({ id: i + 1, subscription_id: OTHER.id }));
  const draft = draftOf({
    rows: {
      subscriptions: new Map([[OTHER.id, OTHER]]),
      items: new Map(stored.map((item) => [item.id, item as StoredItem])),
    },
    ...(answers && { answers }),
  });
  const isIn = isStillIn(draft, OTHER, 'si_1', asOf);
  return { isIn, recheckAt: draft.subscriptions.get(OTHER.id)?.recheck_at };
}

test.each<[string, Parameters<typeof look>[0], { isIn: boolean; recheckAt: Date | null }]>([
  ['not in the older of two', { asOf: at(6) }, { isIn: false, recheckAt: null }],
  ['in the newer of two', { asOf: at(4) }, { isIn: true, recheckAt: null }],
  [
    'within a second where Stripe shows it',
    { asOf: at(5), answers: shows('si_1') },
    { isIn: true, recheckAt: null },
  ],
  [
    'not where Stripe shows others',
    { asOf: at(5), answers: shows('si_2') },
    { isIn: false, recheckAt: null },
  ],
  ['not where the other one is gone', { asOf: at(5), answers: gone }, { isIn: false, recheckAt: null }],
  [
    'within a second where Stripe says nothing: not, until it is asked again',
    { asOf: at(5) },
    { isIn: false, recheckAt: NOW },
  ],
  [
    'in the newer, where that has more items than an event shows, and Stripe says nothing: likewise',
    { asOf: at(4), items: 11 },
    { isIn: false, recheckAt: NOW },
  ],
])('an item that two subscriptions show is %s', (_, given, expected) => {
  expect(look(given)).toEqual(expected);
});

test('an item of a subscription that Stripe never told of is not in it', () => {
  expect(isStillIn(draftOf(), undefined, 'si_1', at(5))).toBe(false);
  expect(isStillIn(draftOf(), { ...OTHER, provider_as_of: null }, 'si_1', at(5))).toBe(false);
});
