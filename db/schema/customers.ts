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
import { actor } from './journal';

// The values of an enum are listed only in the schema. Zod schemas use its `.enumValues`.
export const customerStatus = pgEnum('customer_status', ['active', 'inactive', 'blocked']);
/** Languages of a customer's documents. */
export const documentLanguage = pgEnum('document_language', ['de', 'en']);
export const stripeLinkedBy = pgEnum('stripe_linked_by', ['staff', 'number', 'email', 'created']);
/**
 * The kind of Stripe object that has a customer number in its metadata, in order of precedence. `other` stands for an
 * invoice or a checkout.
 */
export const numberSource = pgEnum('stripe_number_source', ['customer', 'subscription', 'other']);

type NameColumns = Record<'company' | 'first_name' | 'last_name', SQLWrapper>;

/** Returns the SQL of a customer's name: the company, otherwise "first last". */
export function customerNameSql(c: NameColumns): SQL<string> {
  return sql`coalesce(nullif(${c.company}, ''), btrim(coalesce(${c.first_name}, '') || ' ' || coalesce(${c.last_name}, '')))`;
}

/** Returns the SQL of the sort key: the name in lower case, truncated because an index limits a text's length. */
export function customerSortName(c: NameColumns): SQL<string> {
  return sql`lower(left(${customerNameSql(c)}, 100))`;
}

/** Returns the SQL of the digits after the K (or k) of our own customer numbers. Returns null for other numbers. */
export function customerSerial(customerNumber: SQLWrapper): SQL<string | null> {
  return sql`substring(${customerNumber} from '^[Kk](\\d{1,15})$')::bigint`;
}

/**
 * Returns the SQL that normalizes a text for search: composed (NFC), in lower case, with ss for ß. The SQL
 * lower-cases with the database's locale and then with ICU, because a locale such as C only converts ASCII letters.
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
    /** Country as an ISO 3166-1 alpha-2 code. */
    country: text(),
    vat_id: text(),
    tax_exempt: boolean().notNull().default(false),
    /**
     * The reference that the customer wants in e-invoices, such as a Leitweg-ID. If null, e-invoices contain the
     * customer number.
     */
    buyer_reference: text(),
    /** Language of the customer's documents. If null, it depends on the customer's country. */
    document_language: documentLanguage(),
    /** Sentence that the customer's documents print instead of the company's payment terms. */
    payment_terms: text(),
    currency: currency(),
    status: customerStatus().notNull().default('active'),
    /**
     * Time of the erasure of personal data. Null if the customer was not erased. An erased customer is never written
     * again.
     */
    erased_at: instant(),
    /**
     * All searchable fields, one per line, normalized by `searchForm`. A substring search over all fields is therefore
     * one index scan. A search text contains no line break, so a match never spans two fields ("first last" is one
     * field). A search for the start of a field searches for a line break before the text.
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
    // The search for a number ignores case, so two numbers must not differ only in case.
    uniqueIndex('customers_number_lower').on(sql`lower(${t.customer_number})`),
    index('customers_email_lower').on(sql`lower(${t.email})`),
    index('customers_name').on(customerSortName(t), t.id),
    // Creating a customer for a new Stripe customer looks up the highest number.
    index('customers_serial').on(sql`(${customerSerial(t.customer_number)})`),
    index('customers_country').on(t.country, t.id),
    // Almost all customers are active, so the indexes of the list's sort order find them fast enough.
    index('customers_not_active').on(t.status, t.id).where(sql`${t.status} <> 'active'`),
    check('customers_currency_iso', sql`${t.currency} ~ '^[a-z]{3}$'`),
    check('customers_country_iso', sql`${t.country} ~ '^[A-Z]{2}$'`),
  ],
);

/** Returns the foreign key to the customer that a row belongs to. */
export const customerId = () =>
  integer()
    .notNull()
    .references(() => customers.id);

/** Numbers of merged customers. Each now identifies the remaining customer and is never assigned again. */
export const mergedCustomers = pgTable(
  'merged_customers',
  {
    /** Id that the merged customer had in `customers`. */
    id: integer().primaryKey(),
    customer_number: text().notNull(),
    /** The customer into which it was merged. */
    customer_id: customerId(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex('merged_customers_number_lower').on(sql`lower(${t.customer_number})`),
    index('merged_customers_customer').on(t.customer_id),
    index('merged_customers_serial').on(sql`(${customerSerial(t.customer_number)})`),
  ],
);

/** A customer number reported by Stripe: a `ProviderCustomerNumber` with its time in ISO 8601. */
export interface NotedNumber {
  number: string;
  source: (typeof numberSource.enumValues)[number];
  at: string | null;
  by: string | null;
}

/** A detail of a customer reported by Stripe: a `ProviderDetail` with its time in ISO 8601. */
export type NotedDetail = Omit<NotedNumber, 'number'> & {
  field: 'name' | 'email' | 'phone' | 'address';
  /** The values by name. A postal address has four values, the other fields one. */
  value: Record<string, string | null>;
};

/** Links a Stripe customer to a customer. A customer may have several Stripe customers. */
export const stripeCustomers = pgTable(
  'stripe_customers',
  {
    stripe_customer_id: text().primaryKey(),
    customer_id: customerId(),
    linked_by: stripeLinkedBy().notNull(),
    /** Source of the number that the link is based on. Null if it is not based on one, or the source is unknown. */
    number_source: numberSource(),
    /** Time and id of the event that reported the number: `at` and `by` of `NumberOrigin`. */
    number_reported_at: instant(),
    number_reported_by: text(),
    /**
     * Customer numbers reported for this Stripe customer. A number in the metadata of the Stripe customer itself has a
     * separate entry, which is added only if no customer has that number yet. If several subscriptions, invoices or
     * checkouts report the same number, only the report that takes precedence is stored.
     */
    numbers: jsonb().$type<NotedNumber[]>().notNull().default([]),
    /** Contact details reported for this Stripe customer. Sync uses them to create or update customers. */
    details: jsonb().$type<NotedDetail[]>().notNull().default([]),
    /**
     * Time since which a recheck of this Stripe customer is due, for example because Stripe did not answer. The daily
     * job does the recheck. Null if no recheck is due.
     */
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

/** Notes by staff about a customer. */
export const customerNotes = pgTable(
  'customer_notes',
  {
    id: id(),
    customer_id: customerId(),
    text: text().notNull(),
    ...actor,
    ...timestamps,
  },
  (t) => [index('customer_notes_customer').on(t.customer_id, t.created_at, t.id)],
);

/** A level of payment reminders. */
export interface ReminderLevel {
  /** Days after the due date on which this level is due. Null if the level is not used. */
  days: number | null;
  /** The text of the reminder with placeholders, by language. */
  texts: { de: string; en: string };
}

/** Settings of payment reminders. There is at most one row. */
export const reminderSettings = pgTable(
  'reminder_settings',
  {
    id: integer().primaryKey().default(1),
    /** Minimum number of days between two reminders of an invoice. */
    pause_days: integer().notNull(),
    levels: jsonb().$type<ReminderLevel[]>().notNull(),
    ...timestamps,
  },
  (t) => [check('reminder_settings_single', sql`${t.id} = 1`)],
);
