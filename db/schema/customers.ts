import { type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { currency, id, instant, timestamps, version } from './columns';
import { actorType } from './journal';

/** Every closed set of values lives here once; zod schemas take `.enumValues`. */
export const customerStatus = pgEnum('customer_status', ['active', 'inactive', 'blocked']);
export const stripeLinkedBy = pgEnum('stripe_linked_by', ['staff', 'number', 'email', 'created']);
/** Whose metadata names a customer number, from the strongest on: other is an invoice or a checkout. */
export const numberSource = pgEnum('stripe_number_source', ['customer', 'subscription', 'other']);

type NameColumns = Record<'company' | 'first_name' | 'last_name', SQLWrapper>;

/** Company, else "first last". */
export function customerNameSql(c: NameColumns): SQL<string> {
  return sql`coalesce(nullif(${c.company}, ''), btrim(coalesce(${c.first_name}, '') || ' ' || coalesce(${c.last_name}, '')))`;
}

/** The name in lower case: what lists are sorted by. An index takes no text of any length. */
export function customerSortName(c: NameColumns): SQL<string> {
  return sql`lower(left(${customerNameSql(c)}, 100))`;
}

/** What follows the K, of either case, of a customer number of our own; null for others. */
export function customerSerial(customerNumber: SQLWrapper): SQL<string | null> {
  return sql`substring(${customerNumber} from '^[Kk](\\d{1,15})$')::bigint`;
}

/**
 * As texts are searched: composed (NFC), in lower case, with ss for ß. In lower case by the rules of the database's
 * locale, then by ICU's: a locale such as C knows the letters of ASCII alone.
 */
export function searchForm(text: SQLWrapper): SQL {
  return sql`replace(lower(lower(normalize(${text})) collate "und-x-icu") collate "default", 'ß', 'ss')`;
}

export const customers = pgTable(
  'customers',
  {
    id: id(),
    customer_number: text().notNull().unique(),
    first_name: text(),
    last_name: text(),
    company: text(),
    email: text(),
    phone: text(),
    street: text(),
    postal_code: text(),
    city: text(),
    /** ISO 3166-1 alpha-2. */
    country: text(),
    vat_id: text(),
    tax_exempt: boolean().notNull().default(false),
    currency: currency(),
    status: customerStatus().notNull().default('active'),
    /** Since then nothing personal is known of it, and nothing is written again. */
    erased_at: instant(),
    /**
     * One field a line, as `searchForm` writes it, so that a substring search over all of them is one index scan: a search
     * text never holds a line break, hence a match never spans two fields ("first last" is one of them). What a
     * field starts with follows a line break.
     */
    search_text: text()
      .notNull()
      .generatedAlwaysAs(
        (): SQL =>
          searchForm(
            sql`E'\n' || customer_number || E'\n' || coalesce(email, '') || E'\n' || coalesce(first_name, '') || ' ' || coalesce(last_name, '') || E'\n' || coalesce(last_name, '') || E'\n' || coalesce(company, '')`,
          ),
      ),
    version: version(),
    ...timestamps,
  },
  (t) => [
    index('customers_search_text_trgm').using('gin', t.search_text.op('gin_trgm_ops')),
    // Numbers are found in any case: two that differ in nothing else would be one.
    uniqueIndex('customers_number_lower').on(sql`lower(${t.customer_number})`),
    index('customers_email_lower').on(sql`lower(${t.email})`),
    index('customers_name').on(customerSortName(t), t.id),
    // The next number is asked for with each customer that Stripe tells of.
    index('customers_serial').on(sql`(${customerSerial(t.customer_number)})`),
    index('customers_country').on(t.country, t.id),
    // Almost all are active: those are found in the order of the list as well.
    index('customers_not_active').on(t.status, t.id).where(sql`${t.status} <> 'active'`),
    check('customers_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
    check('customers_country_iso', sql`${t.country} ~ '^[A-Z]{2}$'`),
  ],
);

/** The customer that a row belongs to. */
export const customerId = () =>
  integer()
    .notNull()
    .references(() => customers.id);

/** Numbers of merged customers. Each means the customer that it was merged into, and is never given to another one. */
export const mergedCustomers = pgTable(
  'merged_customers',
  {
    /** As it was in `customers`. */
    id: integer().primaryKey(),
    customer_number: text().notNull(),
    /** The customer that it is now. */
    customer_id: customerId(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex('merged_customers_number_lower').on(sql`lower(${t.customer_number})`),
    index('merged_customers_customer').on(t.customer_id),
    index('merged_customers_serial').on(sql`(${customerSerial(t.customer_number)})`),
  ],
);

/** A customer number that Stripe reported, as `ProviderCustomerNumber`, with its time as ISO 8601. */
export interface NotedNumber {
  number: string;
  source: (typeof numberSource.enumValues)[number];
  at: string | null;
  by: string | null;
}

/** What Stripe reported of a customer, as `ProviderDetail`, its time as ISO 8601. */
export type NotedDetail = Omit<NotedNumber, 'number'> & {
  field: 'name' | 'email' | 'phone' | 'address';
  /** Of an address its four columns. */
  value: Record<string, string | null>;
};

/** Links a Stripe customer to a customer. A customer may have several Stripe customers. */
export const stripeCustomers = pgTable(
  'stripe_customers',
  {
    stripe_customer_id: text().primaryKey(),
    customer_id: customerId(),
    linked_by: stripeLinkedBy().notNull(),
    /** The source of the number that links it. Null if the source was not noted. */
    number_source: numberSource(),
    /** This and the next as in `NumberOrigin`. */
    number_reported_at: instant(),
    number_reported_by: text(),
    /** Every number reported for it, with its first source. Its own numbers only while no customer has them. */
    numbers: jsonb().$type<NotedNumber[]>().notNull().default([]),
    /** What the customer that was created for it is made of. */
    details: jsonb().$type<NotedDetail[]>().notNull().default([]),
    /** Since then the daily job has to ask Stripe who it is: it could not be asked. */
    recheck_at: instant(),
    version: version(),
    ...timestamps,
  },
  (t) => [
    index('stripe_customers_customer_id').on(t.customer_id),
    index('stripe_customers_numbers')
      .using('gin', sql`(lower(${t.numbers}::text)::jsonb) jsonb_path_ops`)
      .with({ fastupdate: false })
      .where(sql`${t.numbers} <> '[]'`),
    index('stripe_customers_recheck').on(t.stripe_customer_id).where(sql`${t.recheck_at} is not null`),
    index('stripe_customers_created')
      .on(t.customer_id, t.stripe_customer_id)
      .where(sql`${t.linked_by} = 'created'`),
    index('stripe_customers_email')
      .on(t.customer_id, t.stripe_customer_id)
      .where(sql`${t.linked_by} = 'email'`),
  ],
);

/** What staff noted about a customer. */
export const customerNotes = pgTable(
  'customer_notes',
  {
    id: id(),
    customer_id: customerId(),
    text: text().notNull(),
    actor_type: actorType().notNull(),
    actor_id: text().notNull(),
    actor_name: text().notNull(),
    ...timestamps,
  },
  (t) => [index('customer_notes_customer').on(t.customer_id, t.created_at, t.id)],
);
