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
/** The length of a billing interval in months. The length is 0 if the service is billed once. */
export const INTERVAL_MONTHS = {
  month: 1,
  quarter: 3,
  half_year: 6,
  year: 12,
  two_years: 24,
  three_years: 36,
  once: 0,
};
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

/** Services that customers rent: hosting packages, domains, licences… */
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
    /**
     * The value that sync last wrote into `next_billing_date`, or null. If the dates differ, a person changed
     * `next_billing_date`.
     */
    synced_billing_date: date(),
    /** End date of the service. Staff enter it, or sync sets it when all subscriptions that bill it are to end. */
    ends_on: date(),
    /** The value that sync last wrote into `ends_on`. */
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
    // Without the status, a scan might read most of the index, for example if no cancelled service has a date.
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
    /** Planned end. Flexible billing sets it without `cancel_at_period_end`. */
    cancel_at: instant(),
    ended_at: instant(),
    /** Stripe's treatment of invoices while collection is paused. Null if collection is not paused. */
    pause_behavior: text(),
    /** Planned end of the pause. Null if no date is set. */
    pause_resumes_at: instant(),
    /** Time when the checkout of this subscription was completed. Null unless the checkout was paid or free. */
    checkout_completed_at: instant(),
    /** Stripe's id. Null until a checkout links the subscription. */
    stripe_subscription_id: text().unique(),
    /** Id of the Stripe customer. The subscription follows it to the customer to whom it is linked. */
    stripe_customer_id: text(),
    stripe_synced_at: instant(),
    /** Stripe's time of the stored state. Null if no state has been received, as for a stub or a sold subscription. */
    provider_as_of: instant(),
    /**
     * Time since which a recheck of the state at Stripe is due. The daily job does the recheck. Null if no recheck is
     * due.
     */
    recheck_at: instant(),
    provider_gone_at: instant(),
    /**
     * Id of the sold subscription that the checkout refers to. `adoptSold` merges this row into the sold subscription.
     */
    checkout_reference: integer(),
    /** True if staff decided to keep this subscription separate from the sold one. */
    reference_declined: boolean().notNull().default(false),
    /**
     * True while sync has received only other Stripe objects that refer to this subscription. The column is generated,
     * so that its index does not change with every new `provider_as_of`.
     */
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
    /** True if staff chose the service, or no service. Metadata at Stripe then does not change the choice. */
    linked_by_staff: boolean().notNull().default(false),
    stripe_subscription_item_id: text().unique(),
    /** Service id and number in Stripe's metadata. The service may belong to another customer or not exist. */
    named_service_id: text(),
    named_service_number: text(),
    quantity: integer().notNull().default(1),
    /** Net amount for the whole quantity per interval. Null if the price alone does not determine it. */
    amount: money(),
    currency: text(),
    /** Unit of the billing interval (day, week, month or year), and the number of units. */
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

/**
 * The day on which a subscription item is billed again, keyed by the item's id. Items that are not billed again have no
 * row. Triggers in db/functions/sums.sql write these rows together with the sums, so that the list of renewals agrees
 * with the sums.
 */
export const itemRenewals = pgTable(
  'item_renewals',
  {
    id: integer()
      .primaryKey()
      .references(() => subscriptionItems.id, { onDelete: 'cascade' }),
    day: date().notNull(),
  },
  (t) => [index('item_renewals_day').on(t.day, t.id)],
);
