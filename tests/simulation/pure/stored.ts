import type { ModelRows, RowOf, TableName } from './tables';

/** Columns that sync may change in a row that is there; the others stay. */
const UPDATED: Partial<{ [Name in TableName]: (keyof RowOf<Name>)[] }> = {
  customers: ['last_name', 'email', 'phone', 'street', 'postal_code', 'city', 'country'],
  services: ['next_billing_date', 'synced_billing_date', 'ends_on', 'synced_ends_on'],
};

const AMOUNTS: Partial<Record<TableName, string[]>> = {
  items: ['amount'],
  invoices: ['subtotal', 'tax', 'total', 'amount_paid', 'amount_due', 'amount_off_stripe', 'amount_credited'],
  payments: ['amount', 'provider_amount', 'refunded_amount'],
  refunds: ['amount'],
  disputes: ['amount'],
};

const REFERENCES: Partial<Record<TableName, string[]>> = {
  links: ['customer_id'],
  customers: ['id'],
  subscriptions: ['id', 'customer_id', 'checkout_reference'],
  items: ['id', 'subscription_id', 'customer_service_id'],
  invoices: ['id', 'customer_id', 'subscription_id'],
  payments: ['id', 'invoice_id', 'customer_id'],
  refunds: ['id', 'payment_id'],
  disputes: ['id', 'payment_id'],
};

/** The ids that stand for those below 0. */
export type Made = Map<number, number>;

/** A row as its table keeps it: with its own ids, numbers of three decimals, and the version given. */
export function toStored<Name extends keyof ModelRows>(
  name: Name,
  planned: RowOf<Name>,
  before: RowOf<Name> | undefined,
  made: Made,
  at: { now: Date; version: number },
): RowOf<Name> {
  const columns = before && UPDATED[name];
  const row: Record<string, unknown> = { ...((columns ? before : planned) as object) };
  for (const column of columns ?? []) row[column as string] = planned[column];
  for (const column of REFERENCES[name] ?? []) row[column] = toId(row[column], made);
  for (const column of AMOUNTS[name] ?? []) {
    if (row[column] !== null) row[column] = Number(row[column]).toFixed(3);
  }
  if ('numbers' in row) row.numbers = asJsonb(row.numbers);
  if ('details' in row) row.details = asJsonb(row.details);
  if ('is_stub' in row) row.is_stub = row.provider_as_of === null && row.stripe_subscription_id !== null;
  if ('created_at' in row) {
    row.created_at = (before as { created_at: Date } | undefined)?.created_at ?? at.now;
    row.updated_at = at.now;
  }
  row.version = at.version;
  return row as RowOf<Name>;
}

export function toId(id: unknown, made: Made): unknown {
  return typeof id === 'number' && id < 0 ? (made.get(id) ?? id) : id;
}

/** As jsonb gives it back: keys by their length, then by their letters. */
export function asJsonb(value: unknown): unknown {
  if (Array.isArray(value)) return Object.freeze(value.map(asJsonb));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => a.length - b.length || (a < b ? -1 : 1));
  return Object.freeze(Object.fromEntries(entries.map(([key, one]) => [key, asJsonb(one)])));
}
