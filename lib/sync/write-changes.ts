import type { FieldChange } from '@/db/schema';

type Row = Record<string, unknown>;

/** Written at every sync, and no news to anybody. */
const BOOKKEEPING = new Set(['provider_as_of', 'stripe_synced_at', 'recheck_at']);

const AMOUNTS = /^(subtotal|tax|total|amount(_\w+)?|price)$/;

/** The values that differ from a row's, compared as what they mean: 19.9 is 19.900. */
export function differing<Values extends Row>(row: Row, values: Values): Partial<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([field, value]) => !isSame(field, row[field], value)),
  ) as Partial<Values>;
}

/** True where nothing but bookkeeping would change. */
export function isSameState(row: Row, values: Row): boolean {
  return Object.keys(differing(row, values)).every((field) => BOOKKEEPING.has(field));
}

/** One entry a changed field, in the order of the values. */
export function toChanges(
  subject: Pick<FieldChange, 'entity' | 'entity_id' | 'stripe_id'>,
  row: Row,
  values: Row,
): FieldChange[] {
  return Object.entries(differing(row, values))
    .filter(([field]) => !BOOKKEEPING.has(field))
    .map(([field, value]) => ({
      ...subject,
      field,
      before: toText(row[field]),
      after: toText(value),
      outcome: 'fixed' as const,
    }));
}

function isSame(field: string, held: unknown, value: unknown): boolean {
  if (held instanceof Date && value instanceof Date) return held.getTime() === value.getTime();
  if (AMOUNTS.test(field) && held !== null && value !== null) return Number(held) === Number(value);
  return held === value;
}

function toText(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return value instanceof Date ? value.toISOString() : String(value);
}
