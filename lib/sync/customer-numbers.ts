import { and, asc, eq, inArray, like } from 'drizzle-orm';
import { customers, stripeEvents } from '@/db/schema';
import type { ProviderCustomer, ProviderCustomerNumber } from '../stripe/provider';
import { toProviderCheckout } from '../stripe/to-checkout';
import { type ProviderEvent, toProviderEvent } from '../stripe/to-event';
import { toProviderInvoice } from '../stripe/to-invoice';
import { toProviderSubscription } from '../stripe/to-subscription';
import type { SyncContext } from './context';

/** The customer of ours that the first of the numbers names which anybody has. */
export async function customerOfNumbers(
  { tx }: SyncContext,
  numbers: ProviderCustomerNumber[],
): Promise<number | undefined> {
  if (numbers.length === 0) return undefined;
  const found = await tx
    .select({ id: customers.id, number: customers.customer_number })
    .from(customers)
    .where(
      inArray(
        customers.customer_number,
        numbers.map(({ number }) => number),
      ),
    );
  const ids = new Map(found.map(({ id, number }) => [number, id]));
  return numbers.map(({ number }) => ids.get(number)).find((id) => id !== undefined);
}

/**
 * Settles which of several numbers a Stripe customer is filed under: its own, then a subscription's, then an
 * invoice's or checkout's; of two alike the one of the earlier event, then of the lesser event id.
 *
 * @returns the customer's id; undefined where none of the numbers is known
 */
export async function resolveNumbers(
  ctx: SyncContext,
  told: ProviderCustomer,
): Promise<number | 'unavailable' | undefined> {
  const fetched = ctx.lookups.get('customer', told.stripeCustomerId);
  if (fetched.state === 'unavailable' && fetched.reason !== 'no_api_key') return 'unavailable';
  const own = fetched.state === 'found' ? fetched.object.customerNumbers : [];
  // What a list told comes after what events told: it has no time of its own.
  const numbers = [...own, ...(await storedNumbers(ctx, told.stripeCustomerId)), ...told.customerNumbers];
  return customerOfNumbers(
    ctx,
    SOURCES.flatMap((source) => numbers.filter((one) => one.source === source)),
  );
}

const SOURCES = ['customer', 'subscription', 'other'] as const;

/** More events than this that name a number, one customer does not need. */
const MAX_EVENTS = 1000;

/** In the order of the events that told them. */
async function storedNumbers(ctx: SyncContext, stripeCustomerId: string): Promise<ProviderCustomerNumber[]> {
  await ctx.keepEvent();
  const stored = await ctx.tx
    .select({ payload: stripeEvents.payload })
    .from(stripeEvents)
    .where(
      and(
        eq(stripeEvents.stripe_customer_id, stripeCustomerId),
        like(stripeEvents.payload, '%customer_number%'),
      ),
    )
    .orderBy(asc(stripeEvents.stripe_created), asc(stripeEvents.id))
    .limit(MAX_EVENTS);
  return stored.flatMap(({ payload }) => numbersOf(toProviderEvent(JSON.parse(payload))));
}

/** Of the events that are acted on; what others tell, nobody promised to look at. */
function numbersOf(event: ProviderEvent | null): ProviderCustomerNumber[] {
  if (!event) return [];
  return MAPPERS[event.type]?.(event.object)?.customer?.customerNumbers ?? [];
}

type Mapper = (object: unknown) => { customer: ProviderCustomer | null } | null;

const MAPPERS: Record<string, Mapper> = {
  'checkout.session.completed': toProviderCheckout,
  'customer.subscription.created': toProviderSubscription,
  'customer.subscription.updated': toProviderSubscription,
  'customer.subscription.deleted': toProviderSubscription,
  'invoice.finalized': toProviderInvoice,
  'invoice.paid': toProviderInvoice,
  'invoice.payment_succeeded': toProviderInvoice,
  'invoice.payment_failed': toProviderInvoice,
};
