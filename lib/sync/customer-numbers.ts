import { inArray } from 'drizzle-orm';
import { customers, numberSource } from '@/db/schema';
import type { ProviderCustomer, ProviderCustomerNumber } from '../stripe/provider';
import type { SyncContext } from './context';
import type { NumberOrigin } from './move-stripe-customer';

/** The customer of ours that the first of the numbers told names which anybody has, and where that stands. */
export async function customerOfNumbers(
  { tx }: SyncContext,
  told: ProviderCustomer,
): Promise<{ customerId: number; origin: NumberOrigin } | undefined> {
  const numbers = told.customerNumbers.map(({ number }) => number);
  if (numbers.length === 0) return undefined;
  const found = await tx
    .select({ id: customers.id, number: customers.customer_number })
    .from(customers)
    .where(inArray(customers.customer_number, numbers));
  const ids = new Map(found.map(({ id, number }) => [number, id]));
  const [first] = told.customerNumbers.flatMap((one) => {
    const customerId = ids.get(one.number);
    return customerId === undefined ? [] : [{ customerId, origin: originOf(told, one) }];
  });
  return first;
}

/** Where one of the numbers told stands. */
export function originOf({ told }: ProviderCustomer, { source }: ProviderCustomerNumber): NumberOrigin {
  return { source, ...told };
}

/**
 * Whether a number told there goes before one told elsewhere: the customer's own, then a subscription's, then
 * an invoice's or checkout's; of two alike the one told earlier, then by the lesser id. Whatever order they
 * arrive in, the first of all is the same.
 *
 * @param other null: nobody noted it, and only the customer's own number goes before
 */
export function goesBefore(one: NumberOrigin, other: NumberOrigin | null): boolean {
  if (!other) return one.source === 'customer';
  const sources = numberSource.enumValues;
  const weaker = sources.indexOf(one.source) - sources.indexOf(other.source);
  if (weaker !== 0 || one.source === 'customer') return weaker < 0;
  const [at, otherAt] = [one.at?.getTime() ?? Infinity, other.at?.getTime() ?? Infinity];
  return at < otherAt || (at === otherAt && (one.by ?? '') < (other.by ?? ''));
}
