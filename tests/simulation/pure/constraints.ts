import { type ModelTables, type RowOf, StateError, type TableName } from './tables';

type Row = { id?: number };

const UNIQUE: Partial<{ [Name in TableName]: (row: RowOf<Name>) => string | null }> = {
  customers: (row) => row.customer_number.toLowerCase(),
  subscriptions: (row) => row.stripe_subscription_id,
  items: (row) => row.stripe_subscription_item_id,
  invoices: (row) => row.stripe_invoice_id,
  payments: (row) => row.payment_reference,
  refunds: (row) => row.stripe_refund_id,
  disputes: (row) => row.stripe_dispute_id,
};

/** @throws StateError 23505 where another row has what one alone may have */
export function checkUnique<Name extends TableName>(
  { rows }: ModelTables,
  name: Name,
  row: RowOf<Name> & Row,
): void {
  const keyOf = UNIQUE[name] as ((row: Row) => string | null) | undefined;
  const key = keyOf?.(row) ?? null;
  if (!keyOf || key === null) return;
  for (const other of rows[name].values() as Iterable<Row>) {
    if (other.id !== row.id && keyOf(other) === key) throw new StateError('23505', `${name} ${key}`);
  }
}

const CURRENCY = /^[a-z]{3}$/;

const CHECKS: Partial<{ [Name in TableName]: (row: RowOf<Name>) => boolean }> = {
  customers: ({ country }) => country === null || /^[A-Z]{2}$/.test(country),
  items: ({ quantity }) => quantity >= 0,
  invoices: ({ amount_paid, currency, number, status, stripe_invoice_id }) =>
    Number(amount_paid) >= 0 &&
    CURRENCY.test(currency) &&
    (number !== null || status === 'draft' || stripe_invoice_id !== null),
  payments: ({ amount, refunded_amount, currency, payment_reference: { length } }) =>
    Number(amount) > 0 &&
    Number(refunded_amount) >= 0 &&
    Number(refunded_amount) <= Number(amount) &&
    CURRENCY.test(currency) &&
    length >= 1 &&
    length <= 255,
  refunds: ({ amount, currency }) => Number(amount) > 0 && CURRENCY.test(currency),
  disputes: ({ amount, currency }) => Number(amount) > 0 && CURRENCY.test(currency),
};

/** @throws StateError 23514 for a row that no table holds */
export function checkRow<Name extends TableName>(name: Name, row: RowOf<Name>): void {
  const check = CHECKS[name] as ((row: RowOf<Name>) => boolean) | undefined;
  if (check && !check(row)) throw new StateError('23514', name);
}

/** Where the rows that a row names are, by table. */
const REFERENCES: Partial<{ [Name in TableName]: (row: RowOf<Name>) => [TableName, number | null][] }> = {
  links: (row) => [['customers', row.customer_id]],
  subscriptions: (row) => [['customers', row.customer_id]],
  items: (row) => [
    ['subscriptions', row.subscription_id],
    ['services', row.customer_service_id],
  ],
  invoices: (row) => [
    ['customers', row.customer_id],
    ['subscriptions', row.subscription_id],
  ],
  payments: (row) => [
    ['invoices', row.invoice_id],
    ['customers', row.customer_id],
  ],
  refunds: (row) => [['payments', row.payment_id]],
  disputes: (row) => [['payments', row.payment_id]],
};

/** @throws StateError 23503 where a row names one that is not there */
export function checkReferences<Name extends TableName>(
  { rows }: ModelTables,
  name: Name,
  row: RowOf<Name>,
): void {
  const referencesOf = REFERENCES[name] as ((row: RowOf<Name>) => [TableName, number | null][]) | undefined;
  for (const [table, id] of referencesOf?.(row) ?? []) {
    if (id !== null && !(rows[table] as Map<unknown, unknown>).has(id)) {
      throw new StateError('23503', `${name} names ${table} ${id}`);
    }
  }
}
