import { beforeAll, describe, expect, test } from 'vitest';
import { toProviderCheckout } from '@/lib/stripe/to-checkout';
import { fromInbox } from '@/lib/stripe/to-event';
import { toProviderInvoice } from '@/lib/stripe/to-invoice';
import { toProviderSubscription } from '@/lib/stripe/to-subscription';
import { withoutPersonalData } from '@/lib/stripe/without-personal-data';
import * as act from '@/lib/stripe-local/actions';
import { seededChance } from '@/lib/stripe-local/chance';
import { renderEvent } from '@/lib/stripe-local/render/event';
import { createWorld } from '@/lib/stripe-local/world';
import { isHandled } from '@/lib/sync/inbox/event-types';
import { recordedEvents } from '../support/stripe-events';

const VERSIONS = ['2026-10-28.endive', '2022-11-15', '2016-07-06'];
const PERSONAL = ['erika@example.com', 'Erika Mustermann', 'Lindenweg 1', 'Musterstadt'];
const payloads: string[] = [];

beforeAll(() => {
  const world = createWorld({ now: () => new Date('2026-03-31T12:00:00Z'), chance: seededChance(7) });
  const { object: customer } = act.createCustomer(world, {
    email: 'erika@example.com',
    name: 'Erika Mustermann',
    address: { line1: 'Lindenweg 1', line2: null, city: 'Musterstadt', postal_code: '10115', country: 'DE' },
    metadata: { customer_number: 'K1', nickname: 'Erika Mustermann' },
  });
  const session = act.createCheckoutSession(world, {
    customer: customer.id,
    customerEmail: 'erika@example.com',
    items: [{ unitAmount: 990 }],
    clientReferenceId: 'erika@example.com',
    subscriptionMetadata: { service_number: 'S1', who: 'Erika Mustermann' },
  });
  act.completeCheckout(world, session.id);
  act.updateCustomer(world, customer.id, { email: 'e@example.org' });
  for (const version of VERSIONS) {
    payloads.push(...world.history.map((event) => JSON.stringify(renderEvent(event, version))));
  }
  for (const { read } of recordedEvents()) payloads.push(JSON.stringify(read()));
});

/** What applying an event reads, but for what is personal; the metadata of ours alone. */
function readBy(payload: string) {
  const event = fromInbox(payload);
  const { object, previousAttributes: _, ...envelope } = event;
  const read = [toProviderInvoice, toProviderSubscription, toProviderCheckout].map((to) => {
    const provider = to(object);
    return provider && { ...provider, customer: { ...provider.customer, email: null, details: [] } };
  });
  const own = (key: string, value: unknown) =>
    key === 'metadata'
      ? Object.fromEntries(Object.entries(value as object).filter(([name]) => OURS.includes(name)))
      : value;
  return JSON.parse(JSON.stringify({ envelope, read }, own));
}
const OURS = ['customer_number', 'customer_service_id', 'service_number', 'subscription_id'];

describe('an event without personal data', () => {
  test('says of itself all that is applied', () => {
    const handled = payloads.filter((payload) => isHandled(fromInbox(payload)));
    expect(handled.length).toBeGreaterThan(10);
    for (const payload of handled) expect(readBy(withoutPersonalData(payload))).toEqual(readBy(payload));
  });

  test('says nothing of who it is, whatever its type and version', () => {
    for (const payload of payloads.map(withoutPersonalData)) {
      for (const text of PERSONAL) expect(payload).not.toContain(text);
      expect(payload).not.toContain('@');
    }
  });

  test('is the same when it is reduced again', () => {
    for (const payload of payloads.map(withoutPersonalData))
      expect(withoutPersonalData(payload)).toBe(payload);
  });
});
