import {
  type creditNotes,
  customerServices,
  customers,
  disputes,
  type FieldChange,
  invoices,
  type KeptCheckout,
  payments,
  refunds,
  stripeCustomers,
  type stripeEvents,
  type stripeInvoiceLines,
  subscriptionItems,
  subscriptions,
  transfers,
} from '@/db/schema';
import type { AuditEntry } from '../audit/audit-log';
import type { StaffTask } from '../tasks/staff-tasks';

export type Rows = { [Name in TableName]: Map<KeyOf<Name>, StoredRows[Name]> };

export interface StoredEvent {
  id: string;
  outcome: StoredOutcome;
  attempts: number;
  /** Body of the event. Empty if only the outcome was requested, or if the body has been deleted. */
  payload: string;
  checkout: (KeptCheckout & { completed_at: string; stripe_customer_id: string }) | null;
  isStorable: boolean;
}

export interface Snapshot {
  keys: Keys;
  rows: Rows;
  billing: BillingElsewhere[];
  /** Requested numbers (in lower case) of merged customers, each with the id of the customer it was merged into. */
  merged: Map<string, number>;
  /** Requested e-mail addresses, each with the ids of the customers that have it. */
  withEmail: Map<string, number[]>;
  tombstones: Set<string>;
  /** Sums of payments, keyed by our id of the invoice. An invoice without payments has no entry. */
  paid: Map<number, Paid>;
  /** Requested ids of merged customers, each with the id of the customer it was merged into. */
  mergedInto: Map<number, number>;
  /**
   * The requested staff tasks that are open or that a person closed, each as its kind and subject. Tasks that sync or
   * a later change closed are not included.
   */
  told: Set<string>;
  events: Map<string, StoredEvent>;
}

/** Sums of an invoice's completed payments minus their refunded amounts, in thousandths. */
export interface Paid {
  all: number;
  /** Sum of the payments that did not go through Stripe. */
  offStripe: number;
  /** Amount that Stripe collected and gave back without a credit note, see the SQL function `given_back`. */
  back: number;
}

/** Returns an empty list for each kind of key by which a snapshot is read. */
export const noKeys = () => ({
  events: [] as string[],
  /** Ids of Stripe customers, to read their links and linked customers. */
  stripeCustomers: [] as string[],
  /** Ids of Stripe customers, to read all of their subscriptions. */
  whole: [] as string[],
  /** Ids of Stripe customers, to read their completed checkouts. */
  checkouts: [] as string[],
  /** Ids of our customers, to read all their links to Stripe customers. */
  linked: [] as number[],
  /** Customer numbers in lower case. */
  numbers: [] as string[],
  emails: [] as string[],
  subscriptions: [] as string[],
  subscriptionIds: [] as number[],
  items: [] as string[],
  serviceIds: [] as number[],
  serviceNumbers: [] as string[],
  invoices: [] as string[],
  /**
   * References, to read the payments and the tombstones that have them. A Stripe invoice id also reads that invoice's
   * payments whose reference is a payment intent id or a charge id.
   */
  payments: [] as string[],
  /** Our ids of payments, to read the payments with their invoices, refunds and disputes. */
  paymentIds: [] as number[],
  /** References, to read the transfers that have them, and the payments with their invoices, refunds and disputes. */
  recorded: [] as string[],
  /** Payment intent ids, to read their payments with invoices, refunds and disputes. */
  intents: [] as string[],
  /** Our ids of invoices. */
  invoiceIds: [] as number[],
  /** Payment intent and charge ids, to read the payments that sync recorded for them or for `invoiceIds`. */
  money: [] as string[],
  /** References of transfers, to read the transfers, and their payments with the same related rows as `paymentIds`. */
  transfers: [] as string[],
  /** Our ids of customers that may have been merged into others. */
  mergedIds: [] as number[],
  /** Stripe's ids of refunds, to read the refunds with their payments. */
  refunds: [] as string[],
  /** Stripe's ids of disputes, to read the disputes with their payments. */
  disputes: [] as string[],
  /** Keys made by `secondKey`. For each key, all events that Stripe created for the object in that second are read. */
  seconds: [] as string[],
  /** Kind and subject of staff tasks, separated by a space, to find out which are open or were closed by a person. */
  tasks: [] as string[],
  /** Stripe's ids of subscriptions, to read their events with the outcome `processed` or `stale`. */
  reported: [] as string[],
});

export type Keys = ReturnType<typeof noKeys>;
type Key = Keys[keyof Keys][number];

/** Completes some keys with empty lists for the other kinds of keys. */
export const keysOf = (some: Partial<Keys>): Keys => mergeKeys(noKeys(), some);

export function mergeKeys(one: Keys, more: Partial<Keys>): Keys {
  const merged: Record<string, Key[]> = { ...one };
  for (const name in more) {
    const known: Key[] = merged[name] ?? [];
    const keys: Key[] = more[name as keyof Keys] ?? [];
    if (!keys.every((key) => known.includes(key))) merged[name] = [...new Set([...known, ...keys])];
  }
  return merged as unknown as Keys;
}

/** Returns whether `keys` contains all keys of `needed`. */
export function includesKeys(keys: Keys, needed: Partial<Keys>): boolean {
  return (Object.keys(needed) as (keyof Keys)[]).every((name) => {
    const known: Key[] = keys[name];
    return needed[name]?.every((key) => known.includes(key));
  });
}

export function uniteKeys(all: Keys[]): Keys {
  const [first = noKeys(), ...others] = all;
  if (others.length === 0) return first;
  const names = Object.keys(first) as (keyof Keys)[];
  const united = names.map((name) => [name, [...new Set<Key>(all.flatMap((keys): Key[] => keys[name]))]]);
  return Object.fromEntries(united) as Keys;
}

export const secondKey = (objectId: string, second: Date): string => `${second.toISOString()} ${objectId}`;

/** The tables whose rows a snapshot contains, in the order in which the commit creates ids. */
export const TABLES = {
  links: stripeCustomers,
  customers,
  services: customerServices,
  subscriptions,
  items: subscriptionItems,
  invoices,
  transfers,
  payments,
  refunds,
  disputes,
} as const;

export type TableName = keyof typeof TABLES;
export const TABLE_NAMES = Object.keys(TABLES) as TableName[];

export type KeyOf<Name extends TableName> = Name extends 'links' ? string : number;
export const keyColumn = (name: TableName) => (name === 'links' ? 'stripe_customer_id' : 'id');

export type StoredRows = {
  [Name in TableName]: Name extends keyof InPart ? InPart[Name] : (typeof TABLES)[Name]['$inferSelect'];
};

interface InPart {
  customers: Pick<
    typeof customers.$inferSelect,
    | 'id'
    | 'customer_number'
    | 'email'
    | 'last_name'
    | 'phone'
    | 'street'
    | 'postal_code'
    | 'city'
    | 'country'
    | 'erased_at'
    | 'version'
  >;
  services: Pick<
    typeof customerServices.$inferSelect,
    | 'id'
    | 'customer_id'
    | 'service_number'
    | 'status'
    | 'price'
    | 'currency'
    | 'billing_interval'
    | 'next_billing_date'
    | 'synced_billing_date'
    | 'ends_on'
    | 'synced_ends_on'
    | 'version'
  >;
}

export type StoredLink = StoredRows['links'];
export type StoredCustomer = StoredRows['customers'];
export type StoredService = StoredRows['services'];
export type StoredSubscription = StoredRows['subscriptions'];
export type StoredItem = StoredRows['items'];
export type StoredInvoice = StoredRows['invoices'];
/** A line of a Stripe invoice. Its index in a list of lines determines its position. */
export type StoredLine = Omit<typeof stripeInvoiceLines.$inferSelect, 'id' | 'invoice_id' | 'position'>;
/** The columns of a Stripe credit note that a plan writes. */
export type StripeCreditNote = Pick<
  typeof creditNotes.$inferSelect,
  | ('number' | 'invoice_id' | 'date' | 'currency' | 'subtotal' | 'tax' | 'total' | 'reason')
  | ('stripe_credit_note_id' | 'voided_at' | 'stripe_lines' | 'to_balance')
>;
export type StoredTransfer = StoredRows['transfers'];
export type StoredPayment = StoredRows['payments'];
export type StoredRefund = StoredRows['refunds'];
export type StoredDispute = StoredRows['disputes'];
export type StoredOutcome = (typeof stripeEvents.$inferSelect)['outcome'];

/**
 * An item that bills a service, in a live subscription outside the snapshot. The link of the subscription's Stripe
 * customer is reliable (`isSure`) or missing. `until` is the end of the current period.
 */
export interface BillingElsewhere {
  customer_service_id: number;
  subscription_id: number;
  until: Date;
  endsAt: Date | null;
}

/** The changes to one table. The id of a new row is temporary and negative. The commit replaces it. */
export interface TablePlan<Row> {
  inserted: Row[];
  /** Rows with their new values. Their `version` is the version that the stored row must have before the update. */
  updated: Row[];
  deleted: Row[];
}

type TablePlans = { [Name in TableName]: TablePlan<StoredRows[Name]> };

export interface Plan extends TablePlans {
  /**
   * Stripe customers whose rows all move from one of our customers to another, including rows outside the snapshot.
   */
  moves: { stripe_customer_id: string; from: number; customer_id: number }[];
  /** Subscriptions whose invoices, including those outside the snapshot, all move to another subscription. */
  handedOver: { from: number; to: number }[];
  /** Invoices whose stored lines are replaced. The plan also inserts or updates these invoices. */
  lines: { invoice_id: number; lines: StoredLine[] }[];
  /** Stripe's credit notes, to be inserted. A stored credit note changes only if Stripe has voided it. */
  creditNotes: StripeCreditNote[];
  abandoned: number[];
  audits: AuditEntry[];
  tasks: StaffTask[];
  /** Staff tasks that are no longer necessary. The commit closes them. */
  tasksOver: Pick<StaffTask, 'kind' | 'subject'>[];
  concerned: string[];
  /**
   * Customer numbers that no customer has, and e-mail addresses with the customers that have them. The commit checks
   * both again, because the decision is based on them.
   */
  absentNumbers: string[];
  emails: { email: string; ids: number[] }[];
  /** Links whose version is incremented without any other change. */
  touched: Pick<StoredLink, 'stripe_customer_id' | 'version'>[];
  /** Our own invoices, with the new amounts and status that follow from their payments. */
  invoicesSettled: Pick<
    StoredInvoice,
    'id' | 'version' | 'status' | 'amount_paid' | 'amount_due' | 'paid_at'
  >[];
  /** Invoices that the decision is based on but does not change. The commit compares their versions. */
  invoicesSeen: Pick<StoredInvoice, 'id' | 'version'>[];
  /** References of deleted or renamed Stripe payments, which sync must not record again. */
  tombstones: string[];
  /** References in this plan that name a Stripe payment. The commit conflicts if sync has just recorded it. */
  money: string[];
  /**
   * Stripe's payment intent and charge ids that sync adds to its payments, unless a payment with such a reference was
   * read. The commit conflicts if an API client or staff have just recorded one.
   */
  reportedMoney: string[];
  changes: FieldChange[];
  warnings: string[];
}

const UNCHANGED = { inserted: [], updated: [], deleted: [] };

export function emptyPlan(): Plan {
  return {
    links: UNCHANGED,
    customers: UNCHANGED,
    services: UNCHANGED,
    subscriptions: UNCHANGED,
    items: UNCHANGED,
    invoices: UNCHANGED,
    transfers: UNCHANGED,
    payments: UNCHANGED,
    refunds: UNCHANGED,
    disputes: UNCHANGED,
    moves: [],
    handedOver: [],
    lines: [],
    creditNotes: [],
    abandoned: [],
    audits: [],
    tasks: [],
    tasksOver: [],
    concerned: [],
    absentNumbers: [],
    emails: [],
    touched: [],
    invoicesSettled: [],
    invoicesSeen: [],
    tombstones: [],
    money: [],
    reportedMoney: [],
    changes: [],
    warnings: [],
  };
}

/** The stored rows of a table, together with the decided changes. */
export class Table<Key extends string | number, Row extends object> {
  /** Changed rows by key. Null if the row is deleted. */
  readonly changed = new Map<Key, Row | null>();

  constructor(
    private readonly stored: ReadonlyMap<Key, Row>,
    private readonly keyOf: (row: Row) => Key,
  ) {}

  get(key: Key): Row | undefined {
    const changed = this.changed.get(key);
    return changed === undefined ? this.stored.get(key) : (changed ?? undefined);
  }

  before(key: Key): Row | undefined {
    return this.stored.get(key);
  }

  all(): Row[] {
    if (this.changed.size === 0) return [...this.stored.values()];
    const rows = [...this.stored.keys()].flatMap((key) => this.get(key) ?? []);
    const added = [...this.changed].flatMap(([key, row]) => (row && !this.stored.has(key) ? row : []));
    return [...rows, ...added];
  }

  put(row: Row): Row {
    this.changed.set(this.keyOf(row), row);
    return row;
  }

  delete(key: Key): void {
    this.changed.set(key, null);
  }
}

/** Returns whether the plan changes nothing. A link whose version alone is incremented does not count as a change. */
export function isEmpty(plan: Plan): boolean {
  const lists = [
    plan.changes,
    plan.moves,
    plan.handedOver,
    plan.creditNotes,
    plan.abandoned,
    plan.audits,
    plan.tasks,
    plan.tasksOver,
    plan.tombstones,
    plan.invoicesSettled,
  ];
  return lists.every((list) => list.length === 0) && TABLE_NAMES.every((name) => isUnchanged(plan[name]));
}

const isUnchanged = ({ inserted, updated, deleted }: TablePlan<unknown>) =>
  inserted.length + updated.length + deleted.length === 0;

export function toTablePlan<Key extends string | number, Row extends object>(
  table: Table<Key, Row>,
): TablePlan<Row> {
  const plan: TablePlan<Row> = { inserted: [], updated: [], deleted: [] };
  for (const [key, row] of table.changed) {
    const before = table.before(key);
    if (!before && row) plan.inserted.push(row);
    else if (before && !row) plan.deleted.push(before);
    else if (before && row && !isSameRow(before, row)) plan.updated.push(row);
  }
  return plan;
}

function isSameRow(one: object, other: object): boolean {
  return Object.entries(one).every(([name, value]) => {
    const now = Reflect.get(other, name);
    if (typeof value !== 'object' || value === null) return value === now;
    return value === now || JSON.stringify(value) === JSON.stringify(now);
  });
}
