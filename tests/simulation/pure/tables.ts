import type { KeptCheckout } from '@/db/schema';
import type {
  StoredCustomer,
  StoredDispute,
  StoredInvoice,
  StoredItem,
  StoredLink,
  StoredOutcome,
  StoredPayment,
  StoredRefund,
  StoredService,
  StoredSubscription,
} from '@/lib/sync/store/rows';

/** An event of the inbox, with what sync reads of it and what the oracle looks at. */
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
  /** Customers that were merged into others. */
  merged: Map<number, { id: number; customer_number: string; customer_id: number }>;
  services: Map<number, StoredService>;
  links: Map<string, StoredLink>;
  subscriptions: Map<number, StoredSubscription>;
  items: Map<number, StoredItem>;
  invoices: Map<number, StoredInvoice>;
  payments: Map<number, StoredPayment>;
  refunds: Map<number, StoredRefund>;
  disputes: Map<number, StoredDispute>;
  tombstones: Map<string, { reference: string }>;
  events: Map<string, ModelEvent>;
}

export type TableName = keyof ModelRows;
export type RowOf<Name extends TableName> = ModelRows[Name] extends Map<unknown, infer Row> ? Row : never;
export type KeyOf<Name extends TableName> = ModelRows[Name] extends Map<infer Key, unknown> ? Key : never;

/** An error as the database throws it. */
export class StateError extends Error {
  constructor(
    /** SQLSTATE. */
    readonly code: string,
    what: string,
  ) {
    super(`${code}: ${what}`);
  }
}

/** Tables in memory. Rows are frozen: a decision cannot change what is stored. */
export class ModelTables {
  readonly rows: ModelRows = {
    customers: new Map(),
    merged: new Map(),
    services: new Map(),
    links: new Map(),
    subscriptions: new Map(),
    items: new Map(),
    invoices: new Map(),
    payments: new Map(),
    refunds: new Map(),
    disputes: new Map(),
    tombstones: new Map(),
    events: new Map(),
  };
  /** The last id of each table; what was rolled back is not given out again. */
  readonly ids: Record<string, number> = {};
  /** Customers that were changed since they were made, but by sync. */
  readonly edited = new Set<number>();
  /** What each run changed. */
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

  /** Does all of a piece of work, or nothing where it throws. */
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
