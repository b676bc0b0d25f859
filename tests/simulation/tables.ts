import { getTableColumns, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import * as schema from '@/db/schema';

export const TABLES = {
  customers: schema.customers,
  links: schema.stripeCustomers,
  services: schema.customerServices,
  subscriptions: schema.subscriptions,
  items: schema.subscriptionItems,
  invoices: schema.invoices,
  lines: schema.stripeInvoiceLines,
  payments: schema.payments,
  refunds: schema.refunds,
  disputes: schema.disputes,
  events: schema.stripeEvents,
  entries: schema.accountingEntries,
};
type Name = keyof typeof TABLES;

/** The tables that the in-memory model has. */
export const MODELLED = {
  ...TABLES,
  merged: schema.mergedCustomers,
  tombstones: schema.paymentTombstones,
  tasks: schema.staffTasks,
  transfers: schema.transfers,
};

const isPlain = (value: unknown) => Array.isArray(value) || !['object', 'undefined'].includes(typeof value);

/** Returns the column defaults of the database. The caller must add timestamps. */
export function defaultsOf(table: keyof typeof MODELLED): Record<string, unknown> {
  const columns = Object.entries(getTableColumns(MODELLED[table]));
  return Object.fromEntries(
    // The default is an object if it is an expression such as `now()`.
    columns.map(([name, { default: value }]) => [name, isPlain(value) ? value : null]),
  );
}

/** The columns that the oracle reads. Rows are ordered by the first column. */
const COLUMNS = {
  customers: ['id', 'customer_number', 'email', 'street'],
  links: ['stripe_customer_id', 'customer_id', 'linked_by'],
  services: ['id', 'next_billing_date', 'ends_on'],
  subscriptions: [
    ...(['id', 'customer_id', 'status', 'next_billing_date', 'stripe_subscription_id'] as const),
    ...(['stripe_customer_id', 'cancel_at_period_end', 'cancel_at', 'pause_behavior'] as const),
    ...(['pause_resumes_at', 'ended_at', 'provider_gone_at'] as const),
  ],
  items: [
    ...(['stripe_subscription_item_id', 'subscription_id', 'customer_service_id', 'quantity'] as const),
    ...(['amount', 'currency', 'interval', 'interval_count', 'current_period_end'] as const),
    ...(['id', 'linked_by_staff'] as const),
  ],
  invoices: [
    ...(['id', 'stripe_invoice_id', 'stripe_customer_id', 'customer_id', 'subscription_id'] as const),
    ...(['number', 'status', 'invoice_date', 'due_date', 'currency', 'subtotal', 'tax', 'total'] as const),
    ...([
      'amount_paid',
      'amount_due',
      'amount_off_stripe',
      'amount_credited',
      'paid_at',
      'balance_applied',
    ] as const),
    ...(['payment_failed_at', 'uncollectible', 'provider_gone_at', 'lines_complete'] as const),
  ],
  lines: [
    ...(['invoice_id', 'position', 'description', 'period_start', 'period_end'] as const),
    ...(['quantity', 'amount', 'discount', 'taxes'] as const),
  ],
  payments: [
    ...(['id', 'invoice_id', 'customer_id', 'amount', 'currency', 'payment_date'] as const),
    ...(['payment_reference', 'status', 'source', 'refunded_amount', 'provider_amount'] as const),
  ],
  refunds: [
    ...(['id', 'payment_id', 'stripe_refund_id', 'amount', 'currency', 'status'] as const),
    ...(['source', 'issued_at'] as const),
  ],
  disputes: [
    ...(['id', 'payment_id', 'stripe_dispute_id', 'amount', 'currency', 'status'] as const),
    ...(['evidence_due_at', 'funds_withdrawn_at', 'funds_returned_at'] as const),
  ],
  entries: [
    ...(['id', 'record', 'invoice_id', 'payment_id', 'booked_on', 'original_date', 'reverses'] as const),
    ...([
      'net',
      'tax',
      'gross',
      'currency',
      'customer_number',
      'invoice_number',
      'payment_reference',
    ] as const),
  ],
  events: ['id', 'type', 'outcome', 'payload', 'stripe_created', 'processed_at', 'warnings'],
} as const satisfies { [N in Name]: readonly (keyof (typeof TABLES)[N]['$inferSelect'])[] };

/** The type of a read value. Instants are seconds since the epoch, and amounts are texts. */
type Read<Value> = Value extends Date ? number : Value extends string ? string : Value;
type Stored<N extends Name> = (typeof TABLES)[N]['$inferSelect'];
type RowOf<N extends Name> = {
  [Column in (typeof COLUMNS)[N][number] & keyof Stored<N>]: Read<Stored<N>[Column]>;
};
export type SubscriptionRow = RowOf<'subscriptions'>;
export type ItemRow = RowOf<'items'>;
export type InvoiceRow = RowOf<'invoices'>;
export type PaymentRow = RowOf<'payments'>;
export type RefundRow = RowOf<'refunds'>;
export type DisputeRow = RowOf<'disputes'>;

/** The part of our tables that the oracle reads. */
export type Tables = { [N in Name]: RowOf<N>[] } & {
  /** Stripe ids of the objects with an unresolved reconciliation failure. */
  failures: string[];
  /** Stripe's credit notes. The in-memory model stores none. */
  notes?: { id: string; invoice_id: number; is_void: boolean; to_balance: string }[];
  payouts: Pick<typeof schema.stripePayouts.$inferSelect, 'stripe_payout_id' | 'status' | 'differences'>[];
};

/** Reads all tables that the oracle compares, in one query. */
export async function readTables(db: Database): Promise<Tables> {
  const [row] = await rows<{ tables: string }>(db, QUERY);
  return JSON.parse(row?.tables ?? '{}') as Tables;
}

const QUERY = sql`select json_build_object(${sql.join(
  [
    ...(Object.keys(TABLES) as Name[]).map(
      (name) => sql`${sql.raw(`'${name}'`)}, (select coalesce(json_agg(t), '[]') from (${selectOf(name)}) t)`,
    ),
    sql`'failures', (select coalesce(json_agg(distinct stripe_id), '[]') from reconciliation_failures
      where resolved_at is null)`,
    sql`'notes', (select coalesce(json_agg(n), '[]') from (select stripe_credit_note_id as id, invoice_id,
      voided_at is not null as is_void, to_balance from credit_notes where stripe_credit_note_id is not null) n)`,
    sql`'payouts', (select coalesce(json_agg(p), '[]') from
      (select stripe_payout_id, status, differences from stripe_payouts) p)`,
  ],
  sql`, `,
)})::text as tables`;

function selectOf(name: Name) {
  const types: Record<string, { columnType: string }> = getTableColumns(TABLES[name]);
  const columns = COLUMNS[name].map((column) => {
    const { columnType } = types[column] ?? {};
    if (columnType === 'PgTimestamp') return `extract(epoch from ${column})::float8 as ${column}`;
    return columnType === 'PgNumeric' ? `${column}::text` : column;
  });
  return sql`select ${sql.raw(columns.join(', '))} from ${TABLES[name]} order by ${sql.raw(COLUMNS[name][0])}`;
}

/** Converts the rows of a model to the tables that the oracle compares. */
export function toTables(
  model: { [N in Name]: Map<unknown, object> },
  others: Pick<Tables, 'failures' | 'payouts'>,
): Tables {
  const read = (value: unknown) => (value instanceof Date ? value.getTime() / 1000 : value);
  const tables = (Object.keys(TABLES) as Name[]).map((name) => {
    const [key, ...others] = COLUMNS[name];
    const found = [...model[name].values()].map((row) =>
      Object.fromEntries([key, ...others].map((column) => [column, read(Reflect.get(row, column))])),
    );
    return [name, found.sort((a, b) => compare(a[key], b[key]))];
  });
  return { ...Object.fromEntries(tables), ...others };
}

/** Compares values in PostgreSQL's order, in which null is last. */
function compare(a: unknown, b: unknown): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return (a as string) < (b as string) ? -1 : 1;
}
