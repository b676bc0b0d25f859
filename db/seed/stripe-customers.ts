import type { CustomerRow, InvoiceRow, Source, StripeCustomerRow, SubscriptionRow } from './rows';

/** One in thirty stands at Stripe twice: signed up again with another card. */
const TWICE = 0.03;

/** Who everybody is, or would be, at Stripe. */
export function buildStripeCustomers({ chance }: Source, customers: CustomerRow[]): StripeCustomerRow[] {
  return customers.flatMap(({ id, email, tax_exempt }) =>
    Array.from({ length: chance.happens(TWICE) ? 2 : 1 }, () => {
      const stripe_customer_id = chance.fill('cus_**************');
      const linked_by = chance.weighted({
        number: 88,
        email: email === null || tax_exempt ? 0 : 8,
        staff: 4,
      });
      return {
        stripe_customer_id,
        customer_id: id,
        linked_by,
        number_source: linked_by === 'number' ? 'customer' : null,
        number_reported_at: null,
        number_reported_by: null,
        numbers: [],
        details: [],
        recheck_at: null,
      };
    }),
  );
}

/** Only those whom Stripe bills. */
export function billedByStripe(
  stripeCustomers: StripeCustomerRow[],
  rows: (InvoiceRow | SubscriptionRow)[],
): StripeCustomerRow[] {
  const billed = new Set(rows.map(({ stripe_customer_id }) => stripe_customer_id));
  return stripeCustomers.filter(({ stripe_customer_id }) => billed.has(stripe_customer_id));
}
