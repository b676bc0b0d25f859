import { sql } from 'drizzle-orm';
import { boolean, check, date, index, integer, pgEnum, pgTable, text } from 'drizzle-orm/pg-core';
import { currency, id, instant, money, timestamps, version } from './columns';
import { customerId } from './customers';

export const serverStatus = pgEnum('server_status', ['active', 'maintenance', 'offline', 'decommissioned']);
export const serviceStatus = pgEnum('service_status', [
  'draft',
  'order',
  'active',
  'suspended',
  'cancelled',
  'terminated',
]);
export const serviceType = pgEnum('service_type', [
  'hosting',
  'domain',
  'service',
  'server',
  'license',
  'other',
]);
export const billingInterval = pgEnum('billing_interval', [
  'month',
  'quarter',
  'half_year',
  'year',
  'two_years',
  'three_years',
  'once',
]);
export const subscriptionStatus = pgEnum('subscription_status', [
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
  'cancelled',
]);

export const servers = pgTable('servers', {
  id: id(),
  hostname: text().notNull().unique(),
  ipv4: text().array().notNull().default([]),
  ipv6: text().array().notNull().default([]),
  stack: text(),
  operating_system: text(),
  cpu: text(),
  cpu_cores: integer(),
  ram_gb: integer(),
  storage: text(),
  control_panel: text(),
  location: text(),
  status: serverStatus().notNull().default('active'),
  version: version(),
  ...timestamps,
});

/** What a customer rents: a hosting package, a domain, a licence… */
export const customerServices = pgTable(
  'customer_services',
  {
    id: id(),
    service_number: text().notNull().unique(),
    customer_id: customerId(),
    server_id: integer().references(() => servers.id),
    service_type: serviceType().notNull(),
    status: serviceStatus().notNull().default('draft'),
    name: text().notNull(),
    domain: text(),
    price: money().notNull(),
    currency: currency(),
    billing_interval: billingInterval().notNull().default('month'),
    start_date: date(),
    next_billing_date: date(),
    /** The date that sync wrote last. If the date differs, a person set it. */
    synced_billing_date: date(),
    /** The day it ends on: when all subscriptions that bill it are to end, or what people entered. */
    ends_on: date(),
    /** What sync wrote there last. */
    synced_ends_on: date(),
    cancelled_at: instant(),
    version: version(),
    ...timestamps,
  },
  (t) => [
    index('customer_services_number_prefix').on(t.service_number.op('text_pattern_ops')),
    index('customer_services_number_end').on(sql`reverse(${t.service_number}) text_pattern_ops`),
    index('customer_services_customer').on(t.customer_id, t.service_number),
    index('customer_services_status').on(t.status, t.service_number),
    index('customer_services_type').on(t.service_type, t.service_number),
    index('customer_services_type_status').on(t.service_type, t.status, t.service_number),
    index('customer_services_server').on(t.server_id),
    index('customer_services_next_billing').on(sql`coalesce(${t.next_billing_date}, 'infinity')`, t.id),
    // Few days have most of the services of one status, such as none.
    index('customer_services_status_billing').on(
      t.status,
      sql`coalesce(${t.next_billing_date}, 'infinity')`,
      t.id,
    ),
    index('customer_services_renewal')
      .on(t.next_billing_date, t.id)
      .where(sql`${t.status} = 'active' and ${t.ends_on} is null and ${t.next_billing_date} is not null`),
    index('customer_services_domain_trgm').using('gin', t.domain.op('gin_trgm_ops')),
    check('customer_services_price', sql`${t.price} >= 0`),
    check('customer_services_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
  ],
);

export const subscriptions = pgTable(
  'subscriptions',
  {
    id: id(),
    customer_id: customerId(),
    status: subscriptionStatus().notNull().default('incomplete'),
    next_billing_date: date(),
    cancel_at_period_end: boolean().notNull().default(false),
    /** When it is to end; flexible billing sets it without `cancel_at_period_end`. */
    cancel_at: instant(),
    ended_at: instant(),
    /** What Stripe does with its invoices while collection is paused; null: it is not. */
    pause_behavior: text(),
    /** Null while no resume date is set. */
    pause_resumes_at: instant(),
    /** When a checkout of it was completed that was paid or needed no payment. */
    checkout_completed_at: instant(),
    /** Null until a checkout links it. */
    stripe_subscription_id: text().unique(),
    /** Its Stripe customer. When that one is linked to another customer, these rows move with it. */
    stripe_customer_id: text(),
    stripe_synced_at: instant(),
    /** The provider's time of the state this row holds; null: no state received yet (a stub). */
    provider_as_of: instant(),
    /** Set while the state was decided without the provider's word; the daily job looks it up. */
    recheck_at: instant(),
    provider_gone_at: instant(),
    /** The sold subscription that its checkout names, until it becomes that one: see `adoptSold`. */
    checkout_reference: integer(),
    /** Staff want it to stay a subscription of its own. */
    reference_declined: boolean().notNull().default(false),
    /** Only named by others so far. A column, since an index on a time would be written at every change. */
    is_stub: boolean()
      .notNull()
      .generatedAlwaysAs(sql`provider_as_of is null and stripe_subscription_id is not null`),
    version: version(),
    ...timestamps,
  },
  (t) => [
    index('subscriptions_customer').on(t.customer_id, t.id),
    index('subscriptions_status').on(t.status, t.id),
    index('subscriptions_next_billing').on(sql`coalesce(${t.next_billing_date}, 'infinity')`, t.id),
    index('subscriptions_status_billing').on(
      t.status,
      sql`coalesce(${t.next_billing_date}, 'infinity')`,
      t.id,
    ),
    index('subscriptions_renewal')
      .on(t.next_billing_date, t.id)
      .where(
        sql`${t.next_billing_date} is not null and ${t.cancel_at} is null and not ${t.cancel_at_period_end}
          and ${t.status} in ('trialing', 'active', 'past_due')`,
      ),
    index('subscriptions_stripe_customer').on(t.stripe_customer_id),
    index('subscriptions_recheck').on(t.id).where(sql`${t.recheck_at} is not null`),
    index('subscriptions_reference').on(t.checkout_reference).where(sql`${t.checkout_reference} is not null`),
    index('subscriptions_stub').on(t.id).where(sql`${t.is_stub}`),
  ],
);

export const subscriptionItems = pgTable(
  'subscription_items',
  {
    id: id(),
    subscription_id: integer()
      .notNull()
      .references(() => subscriptions.id, { onDelete: 'cascade' }),
    customer_service_id: integer().references(() => customerServices.id),
    /** Staff chose the service, or none: metadata at Stripe does not change it. */
    linked_by_staff: boolean().notNull().default(false),
    stripe_subscription_item_id: text().unique(),
    /** What Stripe's metadata calls the service, which need not be one of the customer's. */
    named_service_id: text(),
    named_service_number: text(),
    quantity: integer().notNull().default(1),
    /** What Stripe bills for all of the quantity in an interval, before tax; null where the price alone does not tell. */
    amount: money(),
    currency: text(),
    /** day, week, month or year, so many of them. */
    interval: text(),
    interval_count: integer(),
    current_period_end: instant(),
    version: version(),
    ...timestamps,
  },
  (t) => [
    index('subscription_items_subscription').on(t.subscription_id),
    index('subscription_items_service').on(t.customer_service_id),
    check('subscription_items_quantity', sql`${t.quantity} >= 0`),
  ],
);
