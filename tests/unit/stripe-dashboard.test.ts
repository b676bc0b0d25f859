import { expect, test } from 'vitest';
import { dashboardPathOf, dashboardUrl } from '@/lib/stripe/dashboard';

test.each([
  ['in_1', 'invoices/in_1'],
  ['cus_1', 'customers/cus_1'],
  ['sub_1', 'subscriptions/sub_1'],
  ['pi_1', 'payments/pi_1'],
  ['ch_1', 'payments/ch_1'],
  ['evt_1', 'events/evt_1'],
  ['si_1', null],
  ['in_../x', 'invoices/in_..%2Fx'],
])('%s is at %s in Stripe’s dashboard', (id, path) => {
  expect(dashboardPathOf(id)).toBe(path);
});

test('test objects are in the test dashboard', () => {
  expect(dashboardUrl('test', 'invoices/in_1')).toBe('https://dashboard.stripe.com/test/invoices/in_1');
  expect(dashboardUrl('live', 'invoices/in_1')).toBe('https://dashboard.stripe.com/invoices/in_1');
});
