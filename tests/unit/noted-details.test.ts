import { expect, test } from 'vitest';
import { noteDetails } from '@/lib/sync/decide/customer/created-customers';

const OWN = { field: 'address', source: 'customer', at: null, by: null } as const;

test('an address that Stripe repeats is no news, in whatever order its parts are stored', () => {
  // As jsonb gives it back.
  const noted = [
    { ...OWN, value: { city: 'Berlin', street: 'Road 1', country: 'DE', postal_code: '10115' } },
  ];
  const again = { street: 'Road 1', postal_code: '10115', city: 'Berlin', country: 'DE' };
  expect(noteDetails(noted, [{ ...OWN, value: again }])).toBe(noted);
  expect(noteDetails(noted, [{ ...OWN, value: { ...again, city: null } }])).toEqual([
    { ...OWN, value: { ...again, city: null } },
  ]);
});
