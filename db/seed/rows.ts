import { seededChance } from '@/lib/chance';
import { addDays, fromEpoch, startOfDay, toCalendarDate } from '@/lib/dates';
import * as schema from '../schema';

/** The tables of the sample data, in the insertion order that the foreign keys require. */
export const TABLES = {
  customers: schema.customers,
  stripe_customers: schema.stripeCustomers,
  servers: schema.servers,
  customer_services: schema.customerServices,
  subscriptions: schema.subscriptions,
  subscription_items: schema.subscriptionItems,
  invoices: schema.invoices,
  invoice_lines: schema.invoiceLines,
  stripe_invoice_lines: schema.stripeInvoiceLines,
  credit_notes: schema.creditNotes,
  credit_note_lines: schema.creditNoteLines,
  sales_documents: schema.salesDocuments,
  sales_document_lines: schema.salesDocumentLines,
  payments: schema.payments,
  refunds: schema.refunds,
  disputes: schema.disputes,
};

/** The sample rows by table name, without the columns that keep their defaults or that the database computes. */
export type SeedRows = {
  [Name in keyof typeof TABLES]: Seeded<Name, (typeof TABLES)[Name]['$inferSelect']>[];
};
type Seeded<Name, Row> = Omit<
  Row,
  | 'updated_at'
  | 'erased_at'
  | 'search_text'
  | 'is_stub'
  | 'tax_category'
  | 'version'
  // Credit notes keep `created_at`, because lists sort them by it.
  | (Name extends 'credit_notes' ? DocumentColumn : 'created_at')
>;
type DocumentColumn = 'pdf' | 'xml' | 'pdf_sha256' | 'made_at';

export type CustomerRow = SeedRows['customers'][number];
export type StripeCustomerRow = SeedRows['stripe_customers'][number];
export type ServerRow = SeedRows['servers'][number];
export type ServiceRow = SeedRows['customer_services'][number];
export type SubscriptionRow = SeedRows['subscriptions'][number];
export type SubscriptionItemRow = SeedRows['subscription_items'][number];
export type InvoiceRow = SeedRows['invoices'][number];
export type StripeLineRow = SeedRows['stripe_invoice_lines'][number];
export type SalesDocumentRow = SeedRows['sales_documents'][number];
export type PaymentRow = SeedRows['payments'][number];
export type RefundRow = SeedRows['refunds'][number];
export type DisputeRow = SeedRows['disputes'][number];

export interface SeedContext {
  chance: Chance;
  calendar: Calendar;
}

/**
 * Number of days before or after today at which a date is past or future in every time zone. Time zones range from
 * UTC-12 to UTC+14, so only an instant at least two UTC days from today is past or future in every time zone.
 */
export const SAFE_DAYS = 2;

const HOUR = 3600;
export const OFFICE_HOURS = { from: 7 * HOUR, to: 18 * HOUR };

export type Calendar = ReturnType<typeof createCalendar>;

/** Computes the dates of the sample data, all as offsets from one day. A negative offset is in the past. */
export function createCalendar(today: string, timeZone: string) {
  const midnight = Date.parse(`${today}T00:00:00Z`) / 1000;
  return {
    today,
    day: (offset: number) => addDays(today, offset),
    /** Returns the instant at a second of the UTC day that is `offset` days from today. */
    instant: (offset: number, secondOfDay: number) => fromEpoch(midnight + offset * 24 * HOUR + secondOfDay),
    startOf: (date: string) => startOfDay(date, timeZone),
    dateOf: (instant: Date) => toCalendarDate(instant, timeZone),
  };
}

export function addSeconds(instant: Date, seconds: number): Date {
  return fromEpoch(instant.getTime() / 1000 + seconds);
}

/** Returns the number of days from one calendar date to another. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000;
}

/** Returns a function that counts 1, 2, 3, … in each series. */
export function createCounters(): (series: string) => number {
  const counters = new Map<string, number>();
  return (series) => {
    const n = (counters.get(series) ?? 0) + 1;
    counters.set(series, n);
    return n;
  };
}

/** Returns an object in which each of these columns is null. */
export function nulls<Name extends string>(...names: Name[]): Record<Name, null> {
  return Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>;
}

/** A reproducible random generator. The same seed draws the same values. */
export interface Chance {
  /** Draws a whole number from min to max, both inclusive. */
  int(min: number, max: number): number;
  happens(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** Draws a key by its weight. */
  weighted<K extends string>(weights: Record<K, number>): K;
  shuffle<T>(list: readonly T[]): T[];
  /** Replaces `#` by a digit, `*` by a letter or digit of Stripe's ids, `^` by an upper-case hex digit. */
  fill(pattern: string): string;
  /** Returns an independent generator, so that the draws of one builder do not change the values of another. */
  branch(name: string): Chance;
}

const ALPHABETS: Record<string, string> = {
  '#': '0123456789',
  '*': 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  '^': '0123456789ABCDEF',
};

export function createChance(seed: number): Chance {
  const { draw: next } = seededChance(seed);
  const int = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(list: readonly T[]): T => {
    if (list.length === 0) throw new Error('nothing to pick from');
    return list[int(0, list.length - 1)] as T;
  };
  return {
    int,
    pick,
    happens: (probability) => next() < probability,
    weighted: <K extends string>(weights: Record<K, number>) => {
      const entries = Object.entries(weights) as [K, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [key, weight] of entries) {
        left -= weight;
        if (left < 0) return key;
      }
      return pick(entries)[0];
    },
    shuffle: (list) =>
      list
        .map((item) => ({ item, order: next() }))
        .sort((a, b) => a.order - b.order)
        .map(({ item }) => item),
    fill: (pattern) => pattern.replace(/[#*^]/g, (sign) => pick((ALPHABETS[sign] ?? '').split(''))),
    branch: (name) => createChance(hash(`${seed}/${name}`)),
  };
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value;
}
