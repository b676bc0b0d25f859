import { describe, expect, test } from 'vitest';
import type { NumberOrigin } from '@/lib/stripe/provider';
import { takesPrecedence } from '@/lib/sync/decide/customer/claims';

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second));
/** From the strongest on. */
const RANKING: [string, NumberOrigin][] = [
  ['the customer’s own', { source: 'customer', at: at(9), by: 'evt_z' }],
  ['a subscription’s', { source: 'subscription', at: at(1), by: 'evt_b' }],
  ['one of that second with a greater id', { source: 'subscription', at: at(1), by: 'evt_c' }],
  ['one reported later', { source: 'subscription', at: at(2), by: 'evt_a' }],
  ['one that no event reported', { source: 'subscription', at: null, by: '1767225600 sub_z' }],
  ['one of a younger object', { source: 'subscription', at: null, by: '1767225601 sub_a' }],
  ['an invoice’s, reported first of all', { source: 'other', at: at(0), by: 'evt_a' }],
];

describe('which of two customer numbers takes precedence', () => {
  test.each(RANKING)('%s', (_, one) => {
    const place = RANKING.findIndex(([, origin]) => origin === one);
    expect(RANKING.map(([, other]) => takesPrecedence(one, other))).toEqual(RANKING.map((_, i) => i > place));
  });

  test('the customer’s own never takes precedence over its own, whenever it was reported', () => {
    const [[, own] = []] = RANKING;
    if (!own) throw new Error('there is none');
    expect(takesPrecedence({ ...own, at: at(1), by: 'evt_a' }, own)).toBe(false);
  });

  test.each(RANKING)('%s before one that nobody noted the origin of: only the own', (_, one) => {
    expect(takesPrecedence(one, null)).toBe(one.source === 'customer');
  });
});
