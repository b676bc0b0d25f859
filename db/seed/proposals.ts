import type { CustomerRow, SeedRows, StripeCustomerRow } from './rows';

/**
 * Files each Stripe customer that only an e-mail address links under a customer of its own, as sync does, with
 * what Stripe manages of it. Its services stay where they were sold.
 */
export function fileProposals(rows: SeedRows): SeedRows {
  const proposed = rows.stripe_customers.filter(({ linked_by }) => linked_by === 'email');
  const ids = new Map(proposed.map((link, i) => [link.stripe_customer_id, rows.customers.length + i + 1]));
  const refile = <Row extends { customer_id: number; stripe_customer_id: string | null }>(row: Row): Row => ({
    ...row,
    customer_id: ids.get(row.stripe_customer_id ?? '') ?? row.customer_id,
  });
  const invoices = rows.invoices.map(refile);
  const owners = new Map(invoices.map(({ id, customer_id }) => [id, customer_id]));
  const filed = new Set(
    rows.subscriptions.flatMap(({ id, stripe_customer_id }) =>
      ids.has(stripe_customer_id ?? '') ? [id] : [],
    ),
  );
  return {
    ...rows,
    customers: [...rows.customers, ...proposed.map((link) => createdFor(link, ids, rows.customers))],
    stripe_customers: rows.stripe_customers.map((link) => {
      const customer_id = ids.get(link.stripe_customer_id);
      return customer_id === undefined ? link : { ...link, customer_id, linked_by: 'created' };
    }),
    subscriptions: rows.subscriptions.map(refile),
    subscription_items: rows.subscription_items.map((item) =>
      filed.has(item.subscription_id) ? { ...item, customer_service_id: null } : item,
    ),
    invoices,
    payments: rows.payments.map((row) => ({
      ...row,
      customer_id: owners.get(row.invoice_id) ?? row.customer_id,
    })),
  };
}

/** As sync makes it of what Stripe tells, in the currency that it is billed in. */
function createdFor(
  { stripe_customer_id, customer_id }: StripeCustomerRow,
  ids: Map<string, number>,
  customers: CustomerRow[],
): CustomerRow {
  const same = customers.find(({ id }) => id === customer_id);
  const id = ids.get(stripe_customer_id);
  if (!same || id === undefined) throw new Error(`${stripe_customer_id} is nobody`);
  return {
    ...same,
    id,
    customer_number: `K${10_000 + id}`,
    first_name: null,
    last_name: same.company ?? [same.first_name, same.last_name].filter(Boolean).join(' '),
    company: null,
    vat_id: null,
    status: 'active',
  };
}
