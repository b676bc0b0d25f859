import { findCustomerId } from '@/lib/customers/match-customer';
import { getCustomer } from '@/lib/customers/queries';
import { getRuntime } from '@/lib/runtime';
import { type SearchParams, toParams } from '../../../../_components/search-params';

/** What the form of a customer's new record begins with, and where giving up leads; the address names the customer. */
export async function newFor(searchParams: Promise<SearchParams>, path: string) {
  const text = toParams(await searchParams).get('customer') ?? '';
  const { db } = await getRuntime();
  const id = text ? await findCustomerId(db, text) : null;
  const customer = id === null ? null : await getCustomer(db, { id });
  return {
    typed: {
      customer_number: customer?.customer_number ?? text,
      currency: (customer?.currency ?? 'eur').toUpperCase(),
    },
    cancel: customer ? `/admin/customers/${customer.id}` : path,
  };
}
