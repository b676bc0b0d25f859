import { type CustomerChoice, toCustomerChoice } from '@/lib/customers/find-customers';
import { findCustomerId } from '@/lib/customers/match-customer';
import { getCustomer } from '@/lib/customers/queries';
import { getRuntime } from '@/lib/runtime';
import { type SearchParams, toParams } from '../../../../_components/search-params';

/** What the form of a customer's new record begins with, and where giving up leads; the address names the customer. */
export async function newFor(searchParams: Promise<SearchParams>, path: string) {
  const text = toParams(await searchParams).get('customer') ?? '';
  const { db, env } = await getRuntime();
  const id = text ? await findCustomerId(db, text) : null;
  const found = id === null ? null : await getCustomer(db, { id });
  const customer = found && toCustomerChoice(found, env.tax);
  return {
    customer,
    taxRate: customer?.tax.rate ?? env.tax.rate,
    typed: {
      customer_number: customer?.customer_number ?? text,
      currency: (customer?.currency ?? 'eur').toUpperCase(),
    },
    cancel: found ? `/admin/customers/${found.id}` : path,
  };
}

/** The customer whose number a form was opened with. */
export async function choiceFor(customer_number: string | undefined): Promise<CustomerChoice | null> {
  const { db, env } = await getRuntime();
  const customer = customer_number ? await getCustomer(db, { customer_number }) : null;
  return customer && toCustomerChoice(customer, env.tax);
}
