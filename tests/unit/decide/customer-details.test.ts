import { describe, expect, test } from 'vitest';
import type { NumberOrigin } from '@/lib/stripe/provider';
import { takesPrecedence } from '@/lib/sync/decide/customer/claims';
import { noteDetails } from '@/lib/sync/decide/customer/created-customers';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
/** The strongest first. */
const RANKING: [string, NumberOrigin][] = [
  ['the customer’s own', { source: 'customer', at: at(9), by: 'evt_z' }],
  ['a subscription’s', { source: 'subscription', at: at(1), by: 'evt_b' }],
  ['one of that second with a greater id', { source: 'subscription', at: at(1), by: 'evt_c' }],
  ['one reported later', { source: 'subscription', at: at(2), by: 'evt_a' }],
  ['one without an event', { source: 'subscription', at: null, by: '1767225600 sub_z' }],
  ['one of a younger object', { source: 'subscription', at: null, by: '1767225601 sub_a' }],
  ['an invoice’s, reported first of all', { source: 'other', at: at(0), by: 'evt_a' }],
];

describe('the precedence of customer numbers', () => {
  test.each(RANKING)('the precedence of %s over others', (_, one) => {
    const place = RANKING.findIndex(([, origin]) => origin === one);
    expect(RANKING.map(([, other]) => takesPrecedence(one, other))).toEqual(RANKING.map((_, i) => i > place));
  });

  test('a customer’s own number does not take precedence over itself, even with an earlier report', () => {
    const own = { source: 'customer', at: at(9), by: 'evt_z' } as const;
    expect(takesPrecedence({ ...own, at: at(1), by: 'evt_a' }, own)).toBe(false);
  });

  test.each(RANKING)(
    'only the customer’s own number takes precedence over one of unknown origin: %s',
    (_, one) => {
      expect(takesPrecedence(one, null)).toBe(one.source === 'customer');
    },
  );
});

test('an address that Stripe repeats is not noted again, in any order of its parts', () => {
  const own = { field: 'address', source: 'customer', at: null, by: null } as const;
  // In the order of jsonb.
  const noted = [
    { ...own, value: { city: 'Berlin', street: 'Road 1', country: 'DE', postal_code: '10115' } },
  ];
  const again = { street: 'Road 1', postal_code: '10115', city: 'Berlin', country: 'DE' };
  expect(noteDetails(noted, [{ ...own, value: again }])).toBe(noted);
  expect(noteDetails(noted, [{ ...own, value: { ...again, city: null } }])).toEqual([
    { ...own, value: { ...again, city: null } },
  ]);
});
