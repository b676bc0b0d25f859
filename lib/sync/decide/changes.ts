import type { FieldChange } from '@/db/schema';
import { toAmountText } from '../../money';

type Row = Record<string, unknown>;
export type Subject = Pick<FieldChange, 'entity' | 'entity_id' | 'stripe_id'>;

/** Columns for sync's own bookkeeping. A new value is not logged as a change. */
const BOOKKEEPING = new Set([
  'checkout_completed_at',
  'provider_amount',
  'provider_as_of',
  'provider_payment_date',
  'provider_status',
  'recheck_at',
  'stripe_synced_at',
  'synced_billing_date',
  'synced_ends_on',
]);

const AMOUNTS = /^(subtotal|tax|total|amount(_\w+)?|balance_applied|refunded_amount|price)$/;

/** Returns the values that differ from the row. Amounts are compared as numbers, so 19.9 equals 19.900. */
export function differing<Values extends Row>(row: Row, values: Values): Partial<Values> {
  const found: Partial<Values> = {};
  for (const field in values) if (!isSame(field, row[field], values[field])) found[field] = values[field];
  return found;
}

export function isSameState(row: Row, values: Row): boolean {
  return Object.keys(values).every(
    (field) => BOOKKEEPING.has(field) || isSame(field, row[field], values[field]),
  );
}

export function createdChange(subject: Subject, after: string | null): FieldChange {
  return { ...subject, field: 'created', before: null, after, outcome: 'fixed' };
}

export function toChanges(subject: Subject, row: Row, values: Row): FieldChange[] {
  const currency = String(values.currency ?? row.currency ?? '');
  return Object.entries(differing(row, values))
    .filter(([field]) => !BOOKKEEPING.has(field))
    .map(([field, value]) => ({
      ...subject,
      field,
      before: toText(field, row[field], currency),
      after: toText(field, value, currency),
      outcome: 'fixed' as const,
    }));
}

function isSame(field: string, stored: unknown, value: unknown): boolean {
  if (stored === value) return true;
  if (stored instanceof Date && value instanceof Date) return stored.getTime() === value.getTime();
  return AMOUNTS.test(field) && stored !== null && value !== null && Number(stored) === Number(value);
}

function toText(field: string, value: unknown, currency: string): string | null {
  if (value === null || value === undefined) return null;
  if (AMOUNTS.test(field)) return toAmountText(String(value), currency);
  return value instanceof Date ? value.toISOString() : String(value);
}
