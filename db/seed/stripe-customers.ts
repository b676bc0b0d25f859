import type { CustomerRow, InvoiceRow, Source, StripeCustomerRow } from './rows';
import type { Agreement } from './subscriptions';

/** One in thirty stands at Stripe twice: signed up again with another card. */
const TWICE = 0.03;

/** Everybody with something at Stripe. */
export function buildStripeCustomers(
  { chance }: Source,
  customers: CustomerRow[],
  agreements: Agreement[],
  invoices: InvoiceRow[],
): StripeCustomerRow[] {
  const known = new Set([
    ...agreements.filter(({ row }) => row.stripe_subscription_id).map(({ customer }) => customer.id),
    ...invoices.filter(({ stripe_invoice_id }) => stripe_invoice_id).map(({ customer_id }) => customer_id),
  ]);
  return customers
    .filter(({ id }) => known.has(id))
    .flatMap(({ id, email }) =>
      Array.from({ length: chance.happens(TWICE) ? 2 : 1 }, () => ({
        stripe_customer_id: chance.fill('cus_**************'),
        customer_id: id,
        linked_by: chance.weighted({ number: 88, email: email === null ? 0 : 8, staff: 4 }),
      })),
    );
}
