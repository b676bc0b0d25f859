import type { accountingEntries, KeptCheckout } from '@/db/schema';
import type {
  StoredCustomer,
  StoredDispute,
  StoredInvoice,
  StoredItem,
  StoredLine,
  StoredLink,
  StoredOutcome,
  StoredPayment,
  StoredRefund,
  StoredService,
  StoredSubscription,
  StoredTransfer,
} from '@/lib/store/snapshot';
import type { StaffTask } from '@/lib/tasks/staff-tasks';

export const LATER_CHANGE = 'a later change';

/**
 * Returns whether a change of the payment or a change at Stripe closed the task. Otherwise a person closed it, or it is
 * open.
 */
export const isClosedByChange = ({ done_by }: { done_by: string | null }): boolean =>
  done_by === LATER_CHANGE || done_by === 'Stripe';

/** An event of the inbox, with the columns that sync or the oracle reads. */
export interface ModelEvent {
  id: string;
  type: string;
  stripe_created: Date;
  object_id: string | null;
  stripe_customer_id: string | null;
  payload: string;
  checkout: KeptCheckout | null;
  outcome: StoredOutcome;
  attempts: number;
  failure_reason: string | null;
  error_code: string | null;
  warnings: string[];
  changes: object[];
  processed_at: Date | null;
}

export interface ModelRows {
  customers: Map<number, StoredCustomer>;
  /** Customers that were merged into other customers. */
  merged: Map<number, { id: number; customer_number: string; customer_id: number }>;
  services: Map<number, StoredService>;
  links: Map<string, StoredLink>;
  subscriptions: Map<number, StoredSubscription>;
  items: Map<number, StoredItem>;
  invoices: Map<number, StoredInvoice>;
  /** Lines of Stripe's invoices, by `lineKey`. */
  lines: Map<string, StoredLine & { invoice_id: number; position: number }>;
  transfers: Map<number, StoredTransfer>;
  payments: Map<number, StoredPayment>;
  refunds: Map<number, StoredRefund>;
  disputes: Map<number, StoredDispute>;
  tombstones: Map<string, { reference: string }>;
  tasks: Map<number, StaffTask & { id: number; done_by: string | null }>;
  events: Map<string, ModelEvent>;
  entries: Map<number, ModelEntry>;
}

export type ModelEntry = Omit<
  typeof accountingEntries.$inferSelect,
  'created_at' | 'customer_name' | 'customer_country' | 'customer_vat_id' | 'invoice_id' | 'transfer_id'
> & { invoice_id: number };

export type TableName = keyof ModelRows;
export type RowOf<Name extends TableName> = ModelRows[Name] extends Map<unknown, infer Row> ? Row : never;
type KeyOf<Name extends TableName> = ModelRows[Name] extends Map<infer Key, unknown> ? Key : never;

export class StateError extends Error {
  constructor(
    /** The SQLSTATE of the error. */
    readonly code: string,
    what: string,
  ) {
    super(`${code}: ${what}`);
  }
}

/** Tables in memory. Rows are frozen, so that a decision cannot change stored data. */
export class ModelTables {
  readonly rows: ModelRows = {
    customers: new Map(),
    merged: new Map(),
    services: new Map(),
    links: new Map(),
    subscriptions: new Map(),
    items: new Map(),
    invoices: new Map(),
    lines: new Map(),
    transfers: new Map(),
    payments: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    tombstones: new Map(),
    tasks: new Map(),
    events: new Map(),
    entries: new Map(),
  };
  /** The last used id of each table. A rollback does not reset it. */
  readonly ids: Record<string, number> = {};
  /** Ids of customers that staff changed. Empty while no step of the simulation changes a customer. */
  readonly edited = new Set<number>();
  /** The changes that reconciliation runs recorded. */
  readonly runChanges: { run: number; change: object }[] = [];
  audits = 0;
  private undo: (() => void)[] = [];

  nextId(table: TableName): number {
    const id = (this.ids[table] ?? 0) + 1;
    this.ids[table] = id;
    return id;
  }

  put<Name extends TableName>(name: Name, key: KeyOf<Name>, row: RowOf<Name>): void {
    const table = this.rows[name] as Map<unknown, object>;
    const before = table.get(key);
    table.set(key, Object.freeze(row) as object);
    this.undo.push(before ? () => table.set(key, before) : () => table.delete(key));
  }

  delete<Name extends TableName>(name: Name, key: KeyOf<Name>): void {
    const table = this.rows[name] as Map<unknown, object>;
    const before = table.get(key);
    if (!before) return;
    table.delete(key);
    this.undo.push(() => table.set(key, before));
  }

  /** Adds a staff task unless a task with the same kind and subject exists. Reopens a task that a change has closed. */
  addTask(task: StaffTask): void {
    const isIt = (one: StaffTask) => one.kind === task.kind && one.subject === task.subject;
    const known = [...this.rows.tasks.values()].find(isIt);
    if (known && isClosedByChange(known)) this.put('tasks', known.id, { ...known, ...task, done_by: null });
    if (known) return;
    const id = this.nextId('tasks');
    this.put('tasks', id, { ...task, id, done_by: null });
  }

  /** Runs work in a transaction, which is rolled back if the work throws. */
  atOnce<T>(work: () => T): T {
    this.undo = [];
    const [changes, audits] = [this.runChanges.length, this.audits];
    try {
      return work();
    } catch (error) {
      for (const back of this.undo.reverse()) back();
      this.runChanges.length = changes;
      this.audits = audits;
      throw error;
    }
  }
}

export const lineKey = (row: { invoice_id: number; position: number }) => `${row.invoice_id} ${row.position}`;

type Row = { id?: number };

const UNIQUE: Partial<{ [Name in TableName]: (row: RowOf<Name>) => string | null }> = {
  customers: (row) => row.customer_number.toLowerCase(),
  subscriptions: (row) => row.stripe_subscription_id,
  items: (row) => row.stripe_subscription_item_id,
  invoices: (row) => row.stripe_invoice_id,
  transfers: (row) => row.reference,
  payments: (row) => row.payment_reference,
  refunds: (row) => row.stripe_refund_id,
  disputes: (row) => row.stripe_dispute_id,
};

/** Checks unique values. @throws StateError 23505 if another row has the same unique value */
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

export function checkRow<Name extends TableName>(name: Name, row: RowOf<Name>): void {
  const check = CHECKS[name] as ((row: RowOf<Name>) => boolean) | undefined;
  if (check && !check(row)) throw new StateError('23514', name);
}

/** The foreign keys of a table's rows, and the tables they refer to. */
export const REFERENCES: Partial<Record<TableName, Record<string, TableName>>> = {
  links: { customer_id: 'customers' },
  subscriptions: { customer_id: 'customers' },
  items: { subscription_id: 'subscriptions', customer_service_id: 'services' },
  invoices: { customer_id: 'customers', subscription_id: 'subscriptions' },
  transfers: { customer_id: 'customers' },
  payments: { invoice_id: 'invoices', customer_id: 'customers' },
  refunds: { payment_id: 'payments' },
  disputes: { payment_id: 'payments' },
};

/** Checks foreign keys. @throws StateError 23503 if a row refers to a row that does not exist */
export function checkReferences({ rows }: ModelTables, name: TableName, row: object): void {
  for (const [column, table] of Object.entries(REFERENCES[name] ?? {})) {
    const id: unknown = Reflect.get(row, column);
    if (id !== null && !(rows[table] as Map<unknown, unknown>).has(id)) {
      throw new StateError('23503', `${name} names ${table} ${id}`);
    }
  }
}
