import { seededChance } from '@/lib/chance';
import { addDays, fromEpoch, toCalendarDate } from '@/lib/dates';
import type * as schema from '../schema';

/** What the database fills itself is left to it. */
type Seeded<Table extends keyof typeof schema> = Omit<
  (typeof schema)[Table] extends { $inferSelect: infer Row } ? Row : never,
  'created_at' | 'updated_at' | 'erased_at' | 'search_text' | 'is_stub' | 'version'
>;

export type CustomerRow = Seeded<'customers'>;
export type StripeCustomerRow = Seeded<'stripeCustomers'>;
export type ServerRow = Seeded<'servers'>;
export type ServiceRow = Seeded<'customerServices'>;
export type SubscriptionRow = Seeded<'subscriptions'>;
export type SubscriptionItemRow = Seeded<'subscriptionItems'>;
export type InvoiceRow = Seeded<'invoices'>;
export type SalesDocumentRow = Seeded<'salesDocuments'>;
export type PaymentRow = Seeded<'payments'>;
export type RefundRow = Seeded<'refunds'>;
export type DisputeRow = Seeded<'disputes'>;

/** All rows of the sample company, in the order in which foreign keys let them in. */
export interface SeedRows {
  customers: CustomerRow[];
  stripe_customers: StripeCustomerRow[];
  servers: ServerRow[];
  customer_services: ServiceRow[];
  subscriptions: SubscriptionRow[];
  subscription_items: SubscriptionItemRow[];
  invoices: InvoiceRow[];
  invoice_lines: Seeded<'invoiceLines'>[];
  sales_documents: SalesDocumentRow[];
  sales_document_lines: Seeded<'salesDocumentLines'>[];
  payments: PaymentRow[];
  refunds: RefundRow[];
  disputes: DisputeRow[];
}

export interface Source {
  chance: Chance;
  calendar: Calendar;
}

/** Every date of the sample data is an offset from one day. */
export interface Calendar {
  today: string;
  /** The calendar date some days from today; negative is past. */
  day(offset: number): string;
  /** Whole seconds, on the UTC day that many days from today. */
  instant(offset: number, secondOfDay: number): Date;
  /** The calendar date an instant falls on in the product's time zone. */
  dateOf(instant: Date): string;
}

/**
 * Zones reach from UTC-12 to UTC+14: only an instant at least two UTC days from today lies, wherever
 * the product runs, safely in the past or the future.
 */
export const SAFE_DAYS = 2;

const HOUR = 3600;
export const OFFICE_HOURS = { from: 7 * HOUR, to: 18 * HOUR };

export function createCalendar(today: string, timeZone: string): Calendar {
  const midnight = Date.parse(`${today}T00:00:00Z`) / 1000;
  return {
    today,
    day: (offset) => addDays(today, offset),
    instant: (offset, secondOfDay) => fromEpoch(midnight + offset * 24 * HOUR + secondOfDay),
    dateOf: (instant) => toCalendarDate(instant, timeZone),
  };
}

export function addSeconds(instant: Date, seconds: number): Date {
  return fromEpoch(instant.getTime() / 1000 + seconds);
}

/** Days from one calendar date to another. */
export function daysBetween(from: string, to: string): number {
  return (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000;
}

/** Counts on in each series: 1, 2, 3, … */
export function createCounters(): (series: string) => number {
  const counters = new Map<string, number>();
  return (series) => {
    const n = (counters.get(series) ?? 0) + 1;
    counters.set(series, n);
    return n;
  };
}

/** These columns, which stay empty. */
export function nulls<Name extends string>(...names: Name[]): Record<Name, null> {
  return Object.fromEntries(names.map((name) => [name, null])) as Record<Name, null>;
}

/** Chance that repeats: the same seed draws the same values. */
export interface Chance {
  /** A whole number from min to max, both included. */
  int(min: number, max: number): number;
  happens(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** A key, drawn by its weight. */
  weighted<K extends string>(weights: Record<K, number>): K;
  shuffle<T>(list: readonly T[]): T[];
  /** `#` becomes a digit, `*` a letter or digit as in Stripe's ids, `^` an upper-case hex digit. */
  fill(pattern: string): string;
  /** An independent stream: what one builder draws does not shift another's values. */
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
