import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/inbox/event-types';
import { ANNOUNCING } from '../simulation/oracle/story';

test('README has the types for Stripe’s dashboard', () => {
  const readme = readFileSync('README.md', 'utf8');
  const [, named = ''] = /add an endpoint at `[^`]+` for ([^:]+), and set/.exec(readme) ?? [];
  let before = '';
  const types = [...named.matchAll(/`([^`]+)`/g)].map(([, type = '']) => {
    // `.updated` follows `customer.subscription.created`.
    before = type.startsWith('.') ? before.replace(/\.\w+$/, type) : type;
    return before;
  });
  expect(types.sort()).toEqual([...HANDLED_EVENT_TYPES].sort());
});

test('simulated histories announce them all', () => {
  expect([...ANNOUNCING].sort()).toEqual([...HANDLED_EVENT_TYPES].sort());
});
