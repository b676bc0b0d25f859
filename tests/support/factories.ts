import type { PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import {
  customerServices,
  customers,
  disputes,
  invoices,
  type KeptTax,
  payments,
  refunds,
  salesDocuments,
  servers,
  stripeCustomers,
  stripeEvents,
  stripeInvoiceLines,
  subscriptionItems,
  subscriptions,
  toolCalls,
  transfers,
} from '@/db/schema';

type New<Table extends { $inferInsert: object }> = Partial<Table['$inferInsert']>;

// Numbers restart in each test file, so that a search finds the same rows in every run.
let drawn = 0;
const next = () => String(++drawn).padStart(5, '0');

/** Restarts the numbers for the next test file. */
export function restartNumbers(): void {
  drawn = 0;
}

/** Inserts a row with the defaults and overrides. @returns the row */
async function insert<Table extends PgTable>(
  db: Database,
  table: Table,
  defaults: New<Table>,
  overrides: New<Table>,
): Promise<Table['$inferSelect']> {
  const [row] = await db
    .insert<PgTable>(table)
    .values({ ...defaults, ...overrides })
    .returning();
  if (!row) throw new Error('insert returned no row');
  return row as Table['$inferSelect'];
}

/** Returns the id of the given customer, or of a new one. */
const customerOf = async (db: Database, given: { customer_id?: number | null | undefined }) =>
  given.customer_id ?? (await createCustomer(db)).id;

/** Creates an active private customer such as `K00001` with customer-00001@example.com. */
export function createCustomer(db: Database, overrides: New<typeof customers> = {}) {
  const n = next();
  const defaults = { customer_number: `K${n}`, first_name: 'Ada', last_name: `Tester${n}` };
  return insert(db, customers, { ...defaults, email: `customer-${n}@example.com` }, overrides);
}

/** Creates a Stripe customer that is linked by number, to a new customer by default. */
export async function createStripeCustomer(db: Database, overrides: New<typeof stripeCustomers> = {}) {
  const customer_id = await customerOf(db, overrides);
  const defaults = { stripe_customer_id: `cus_${next()}`, linked_by: 'number' as const };
  return insert(db, stripeCustomers, defaults, { ...overrides, customer_id });
}

/** Creates an active server without IP addresses. */
export const createServer = (db: Database, overrides: New<typeof servers> = {}) =>
  insert(db, servers, { hostname: `web${next()}.example.net` }, overrides);

/** Creates an active monthly hosting service at 9.90 EUR, of a new customer by default. */
export async function createService(db: Database, overrides: New<typeof customerServices> = {}) {
  const customer_id = await customerOf(db, overrides);
  const defaults = { service_number: `S${next()}`, customer_id, service_type: 'hosting' as const };
  const product = { status: 'active' as const, name: 'Webhosting M', price: '9.90' };
  return insert(db, customerServices, { ...defaults, ...product }, overrides);
}

const SUMS = { subtotal: '100', tax: '19', total: '119' };

/** Creates a sent, unpaid invoice for 119.00 EUR, of a new customer by default. */
export async function createInvoice(db: Database, overrides: New<typeof invoices> = {}) {
  const customer_id = await customerOf(db, overrides);
  const dates = { invoice_date: '2026-03-01', due_date: '2026-03-31' };
  const amount_due = overrides.status === 'cancelled' ? '0' : (overrides.total ?? SUMS.total);
  const sums = { ...SUMS, amount_due };
  const defaults = { number: `R${next()}`, customer_id, status: 'sent' as const, ...dates, ...sums };
  return insert(db, invoices, defaults, overrides);
}

const VAT = { amount: '19.00', inclusive: false, rate: '19', type: 'vat', reason: 'standard_rated' };

/** Creates a Stripe invoice for 119.00 EUR. Its only line has a discount, and 19 % VAT by default. */
export async function createStripeInvoice(
  db: Database,
  overrides: New<typeof invoices> = {},
  { tax, ...line }: New<typeof stripeInvoiceLines> & { tax?: Partial<KeptTax> } = {},
) {
  const stripe = { stripe_invoice_id: `in_${next()}`, lines_complete: true };
  const invoice = await createInvoice(db, { ...stripe, ...overrides });
  await insert(
    db,
    stripeInvoiceLines,
    {
      ...{ invoice_id: invoice.id, position: 1, description: 'Webhosting L', quantity: '4' },
      ...{ amount: '110', discount: '10', taxes: [{ ...VAT, ...tax }] },
      period_start: new Date('2026-10-01T00:00:00Z'),
      period_end: new Date('2026-11-01T00:00:00Z'),
    },
    line,
  );
  return invoice;
}

/** Creates a sent offer for 119.00 EUR, to a new customer by default. */
export async function createSalesDocument(db: Database, overrides: New<typeof salesDocuments> = {}) {
  const customer_id = await customerOf(db, overrides);
  const kind = { document_number: `A${next()}`, type: 'offer' as const, status: 'sent' as const };
  const defaults = { ...kind, customer_id, document_date: '2026-03-01', ...SUMS };
  return insert(db, salesDocuments, defaults, overrides);
}

/** Creates an active Stripe subscription without items, of a new customer by default. */
export async function createSubscription(db: Database, overrides: New<typeof subscriptions> = {}) {
  const customer_id = await customerOf(db, overrides);
  const defaults = { customer_id, status: 'active' as const, stripe_subscription_id: `sub_${next()}` };
  return insert(db, subscriptions, defaults, overrides);
}

/** Creates a subscription item, of a new subscription by default. It has a customer service only if one is given. */
export async function createSubscriptionItem(db: Database, overrides: New<typeof subscriptionItems> = {}) {
  const subscription_id = overrides.subscription_id ?? (await createSubscription(db)).id;
  const defaults = { subscription_id, stripe_subscription_item_id: `si_${next()}` };
  return insert(db, subscriptionItems, defaults, overrides);
}

/** Creates a transfer of 50.00 EUR, of a new customer by default. It has no payments, so all of it is credit. */
export async function createTransfer(db: Database, overrides: New<typeof transfers> = {}) {
  const customer_id = await customerOf(db, overrides);
  const money = { amount: '50', credit: '50', payment_date: '2026-03-10' };
  return insert(db, transfers, { customer_id, ...money, reference: `SEPA-${next()}` }, overrides);
}

/** Creates a logged call of get-customer-tool by an access token. */
export function createToolCall(db: Database, overrides: New<typeof toolCalls> = {}) {
  const caller = { caller: 'token:1', caller_name: 'Assistant', tool: 'get-customer-tool', arguments: {} };
  const outcome = { rows: 1, duration_ms: 2, outcome: 'ok' as const };
  const called_at = new Date('2026-03-10T12:00:00Z');
  return insert(db, toolCalls, { called_at, ...caller, ...outcome }, overrides);
}

/** Creates a service for 9.90 EUR a month, and its sold subscription that waits for a checkout. */
export async function createSold(db: Database, overrides: New<typeof customerServices> = {}) {
  const service = await createService(db, overrides);
  const { customer_id } = service;
  const waiting = { status: 'incomplete' as const, stripe_subscription_id: null };
  const sold = await createSubscription(db, { customer_id, ...waiting });
  const ofSold = { subscription_id: sold.id, customer_service_id: service.id };
  await createSubscriptionItem(db, { ...ofSold, stripe_subscription_item_id: null });
  return { sold, service };
}

/**
 * Creates a completed payment of 10.00 EUR, on a new invoice by default. With `invoice_id`, also pass `customer_id`.
 */
export async function createPayment(db: Database, overrides: New<typeof payments> = {}) {
  const invoice = overrides.invoice_id
    ? { id: overrides.invoice_id, customer_id: overrides.customer_id }
    : await createInvoice(db, overrides.customer_id ? { customer_id: overrides.customer_id } : {});
  if (invoice.customer_id === undefined) throw new Error('createPayment: invoice_id needs customer_id');
  const defaults = { amount: '10', payment_date: '2026-03-10', payment_reference: `P${next()}` };
  const of = { invoice_id: invoice.id, customer_id: invoice.customer_id };
  return insert(db, payments, { ...defaults, source: 'api' as const }, { ...overrides, ...of });
}

const ISSUED_AT = new Date('2026-03-12T12:00:00Z');

/** Creates a succeeded refund of 5.00 EUR that Stripe reported. */
export function createRefund(db: Database, overrides: New<typeof refunds> = {}) {
  const made = { amount: '5', status: 'succeeded' as const, source: 'stripe' as const };
  const defaults = { ...made, stripe_refund_id: `re_${next()}`, issued_at: ISSUED_AT };
  return insert(db, refunds, defaults, overrides);
}

/** Creates a dispute for 10.00 EUR that needs a response. */
export function createDispute(db: Database, overrides: New<typeof disputes> = {}) {
  const made = { amount: '10', status: 'needs_response' as const, reason: 'fraudulent' };
  const defaults = { ...made, stripe_dispute_id: `dp_${next()}`, issued_at: ISSUED_AT };
  return insert(db, disputes, defaults, overrides);
}

/** Creates a processed `invoice.paid` event of 10 March 2026 in the inbox. */
export function createStoredEvent(db: Database, overrides: New<typeof stripeEvents> = {}) {
  const { id = `evt_${next()}`, object_id = `in_${next()}`, type = 'invoice.paid' } = overrides;
  const payload = JSON.stringify({ id, type, object: 'event', data: { object: { id: object_id } } });
  const sent = { api_version: '2026-10-28.endive', livemode: false };
  const stripe_created = new Date('2026-03-10T12:00:00Z');
  const defaults = { ...sent, stripe_created, payload, outcome: 'processed' as const };
  return insert(db, stripeEvents, { ...defaults, id, object_id, type }, overrides);
}
