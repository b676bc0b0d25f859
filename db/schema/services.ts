import { sql } from 'drizzle-orm';
import { check, date, index, integer, pgTable, text } from 'drizzle-orm/pg-core';
import { currency, id, instant, money, timestamps, version } from './columns';
import { customers } from './customers';
import { billingInterval, serviceStatus, serviceType } from './enums';
import { servers } from './servers';

/** What a customer rents: a hosting package, a domain, a licence… */
export const customerServices = pgTable(
  'customer_services',
  {
    id: id(),
    service_number: text().notNull().unique(),
    customer_id: integer()
      .notNull()
      .references(() => customers.id),
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
