import type { Database } from '@/db/database';
import {
  customerServices,
  customers,
  disputes,
  invoices,
  payments,
  refunds,
  salesDocuments,
  servers,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
  toolCalls,
} from '@/db/schema';

type New<Table extends { $inferInsert: object }> = Partial<Table['$inferInsert']>;

// Unique within a test file; every file has a database of its own.
let drawn = 0;
const next = () => String(++drawn).padStart(5, '0');

/** An active private customer, `K00001`, `customer-00001@example.com`. */
export async function createCustomer(db: Database, overrides: New<typeof customers> = {}) {
  const n = next();
  return one(
    await db
      .insert(customers)
      .values({
        customer_number: `K${n}`,
        first_name: 'Ada',
        last_name: `Tester${n}`,
        email: `customer-${n}@example.com`,
        ...overrides,
      })
      .returning(),
  );
}

/** A Stripe customer known by its number; of a new customer of ours unless one is given. */
export async function createStripeCustomer(db: Database, overrides: New<typeof stripeCustomers> = {}) {
  const customer_id = overrides.customer_id ?? (await createCustomer(db)).id;
  return one(
    await db
      .insert(stripeCustomers)
      .values({ stripe_customer_id: `cus_${next()}`, linked_by: 'number', ...overrides, customer_id })
      .returning(),
  );
}

/** An active server without addresses. */
export async function createServer(db: Database, overrides: New<typeof servers> = {}) {
  return one(
    await db
      .insert(servers)
      .values({ hostname: `web${next()}.example.net`, ...overrides })
      .returning(),
  );
}

/** An active monthly hosting service of a new customer, 9.90 EUR. */
export async function createService(db: Database, overrides: New<typeof customerServices> = {}) {
  return one(
    await db
      .insert(customerServices)
      .values({
        service_number: `S${next()}`,
        customer_id: overrides.customer_id ?? (await createCustomer(db)).id,
        service_type: 'hosting',
        status: 'active',
        name: 'Webhosting M',
        price: '9.90',
        ...overrides,
      })
      .returning(),
  );
}

/** A sent invoice of a new customer over 119.00 EUR, nothing paid. */
export async function createInvoice(db: Database, overrides: New<typeof invoices> = {}) {
  return one(
    await db
      .insert(invoices)
      .values({
        number: `R${next()}`,
        customer_id: overrides.customer_id ?? (await createCustomer(db)).id,
        status: 'sent',
        invoice_date: '2026-03-01',
        due_date: '2026-03-31',
        subtotal: '100',
        tax: '19',
        total: '119',
        amount_due: overrides.total ?? '119',
        ...overrides,
      })
      .returning(),
  );
}

/** An offer that was sent to a new customer, over 119.00 EUR. */
export async function createSalesDocument(db: Database, overrides: New<typeof salesDocuments> = {}) {
  return one(
    await db
      .insert(salesDocuments)
      .values({
        document_number: `A${next()}`,
        type: 'offer',
        status: 'sent',
        customer_id: overrides.customer_id ?? (await createCustomer(db)).id,
        document_date: '2026-03-01',
        subtotal: '100',
        tax: '19',
        total: '119',
        ...overrides,
      })
      .returning(),
  );
}

/** An active subscription of a new customer, linked to Stripe, without items. */
export async function createSubscription(db: Database, overrides: New<typeof subscriptions> = {}) {
  return one(
    await db
      .insert(subscriptions)
      .values({
        customer_id: overrides.customer_id ?? (await createCustomer(db)).id,
        status: 'active',
        stripe_subscription_id: `sub_${next()}`,
        ...overrides,
      })
      .returning(),
  );
}

/** An item of a new subscription; linked to a customer service only where one is given. */
export async function createSubscriptionItem(db: Database, overrides: New<typeof subscriptionItems> = {}) {
  return one(
    await db
      .insert(subscriptionItems)
      .values({
        subscription_id: overrides.subscription_id ?? (await createSubscription(db)).id,
        stripe_subscription_item_id: `si_${next()}`,
        ...overrides,
      })
      .returning(),
  );
}

/** A call of get-customer-tool by a token. */
export async function createToolCall(db: Database, overrides: New<typeof toolCalls> = {}) {
  await db.insert(toolCalls).values({
    called_at: new Date('2026-03-10T12:00:00Z'),
    caller: 'token:1',
    caller_name: 'Assistant',
    tool: 'get-customer-tool',
    arguments: {},
    rows: 1,
    duration_ms: 2,
    outcome: 'ok',
    ...overrides,
  });
}

/** A service and a subscription for it that was sold and waits for its checkout: 9.90 EUR a month. */
export async function createSold(db: Database, overrides: New<typeof customerServices> = {}) {
  const service = await createService(db, overrides);
  const { customer_id } = service;
  const sold = await createSubscription(db, {
    customer_id,
    status: 'incomplete',
    stripe_subscription_id: null,
  });
  const ofSold = { subscription_id: sold.id, customer_service_id: service.id };
  await createSubscriptionItem(db, { ...ofSold, stripe_subscription_item_id: null });
  return { sold, service };
}

/** A completed payment of 10.00 EUR on a new invoice; a given invoice needs its customer_id too. */
export async function createPayment(db: Database, overrides: New<typeof payments> = {}) {
  const invoice = overrides.invoice_id
    ? { id: overrides.invoice_id, customer_id: overrides.customer_id }
    : await createInvoice(db, overrides.customer_id ? { customer_id: overrides.customer_id } : {});
  if (invoice.customer_id === undefined) throw new Error('createPayment: invoice_id needs customer_id');
  return one(
    await db
      .insert(payments)
      .values({
        amount: '10',
        payment_date: '2026-03-10',
        payment_reference: `P${next()}`,
        source: 'api',
        ...overrides,
        invoice_id: invoice.id,
        customer_id: invoice.customer_id,
      })
      .returning(),
  );
}

/** A refund of 5.00 EUR that Stripe made of a payment. */
export async function createRefund(db: Database, overrides: New<typeof refunds> = {}) {
  return one(
    await db
      .insert(refunds)
      .values({
        amount: '5',
        status: 'succeeded',
        source: 'stripe',
        stripe_refund_id: `re_${next()}`,
        issued_at: new Date('2026-03-12T12:00:00Z'),
        ...overrides,
      })
      .returning(),
  );
}

/** A dispute over 10.00 EUR of a payment, which awaits an answer. */
export async function createDispute(db: Database, overrides: New<typeof disputes> = {}) {
  return one(
    await db
      .insert(disputes)
      .values({
        amount: '10',
        status: 'needs_response',
        reason: 'fraudulent',
        stripe_dispute_id: `dp_${next()}`,
        issued_at: new Date('2026-03-12T12:00:00Z'),
        ...overrides,
      })
      .returning(),
  );
}

function one<Row>(inserted: Row[]): Row {
  const [row] = inserted;
  if (!row) throw new Error('insert returned no row');
  return row;
}
