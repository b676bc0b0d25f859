import type { FieldChange } from '@/db/schema';
import type { AuditEntry } from '../../audit/record-audit';
import type {
  StoredCustomer,
  StoredInvoice,
  StoredItem,
  StoredLink,
  StoredPayment,
  StoredService,
  StoredSubscription,
} from '../store/rows';
import type { Draft } from './draft';
import type { Table } from './table';

/** What changes in a table. Ids below 0 stand for those that the commit gives. */
export interface TablePlan<Row, Key = number> {
  inserted: Row[];
  /** As they are to be; `version` is that of the row that was read. */
  updated: Row[];
  deleted: Key[];
}

/** All that a decision changes. */
export interface Plan {
  links: TablePlan<StoredLink, string>;
  customers: TablePlan<StoredCustomer>;
  services: TablePlan<StoredService>;
  subscriptions: TablePlan<StoredSubscription>;
  items: TablePlan<StoredItem>;
  invoices: TablePlan<StoredInvoice>;
  payments: TablePlan<StoredPayment>;
  moves: Draft['moves'];
  handedOver: Draft['handedOver'];
  abandoned: number[];
  audits: AuditEntry[];
  /** Stripe customers that were decided on. */
  concerned: string[];
  /** Customer numbers that nobody had, and who had an e-mail address. */
  absentNumbers: string[];
  emails: { email: string; ids: number[] }[];
  /** Links as they were read, whose versions are raised though nothing else of them changes. */
  touched: Pick<StoredLink, 'stripe_customer_id' | 'version'>[];
  changes: FieldChange[];
  warnings: string[];
}

export function toPlan(draft: Draft): Plan {
  const [links, services] = [toTablePlan(draft.links), toTablePlan(draft.services)];
  return {
    links,
    customers: toTablePlan(draft.customers),
    services: { ...services, updated: [...services.updated, ...billedAnew(draft, services.updated)] },
    subscriptions: toTablePlan(draft.subscriptions),
    items: toTablePlan(draft.items),
    invoices: toTablePlan(draft.invoices),
    payments: toTablePlan(draft.payments),
    moves: draft.moves,
    handedOver: draft.handedOver,
    abandoned: draft.abandoned,
    audits: draft.audits,
    concerned: [...draft.concerned],
    absentNumbers: [...draft.met.absentNumbers],
    emails: [...draft.met.emails].map(([email, ids]) => ({ email, ids })),
    touched: touched(draft, links.updated),
    changes: draft.changes,
    warnings: [...draft.warnings],
  };
}

/** True where everything is as it should be. */
export function isEmpty(plan: Plan): boolean {
  const { links, customers, services, subscriptions, items, invoices, payments } = plan;
  const tables = [links, customers, services, subscriptions, items, invoices, payments];
  const lists = [plan.changes, plan.moves, plan.handedOver, plan.abandoned, plan.audits];
  return [...lists, ...tables.flatMap((table) => Object.values(table))].every((list) => list.length === 0);
}

function toTablePlan<Key extends string | number, Row extends object>(
  table: Table<Key, Row>,
): TablePlan<Row, Key> {
  const plan: TablePlan<Row, Key> = { inserted: [], updated: [], deleted: [] };
  for (const [key, row] of table.changed) {
    const before = table.before(key);
    if (!before && row) plan.inserted.push(row);
    else if (before && !row) plan.deleted.push(key);
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

function touched(draft: Draft, updated: StoredLink[]): Plan['touched'] {
  return [...draft.concerned].sort().flatMap((id) => {
    const before = draft.links.before(id);
    const isUpdated = updated.some((link) => link.stripe_customer_id === id);
    return before && !isUpdated ? { stripe_customer_id: id, version: before.version } : [];
  });
}

/**
 * Services that are billed otherwise than before, though their dates stay: who decides on them at the same
 * time, from another subscription, is told by their version.
 */
function billedAnew(draft: Draft, updated: StoredService[]): StoredService[] {
  const concerned = new Set<number | null>();
  for (const id of draft.items.changed.keys()) {
    for (const item of [draft.items.before(id), draft.items.get(id)]) {
      concerned.add(item?.customer_service_id ?? null);
    }
  }
  for (const id of draft.subscriptions.changed.keys()) {
    const [before, now] = [draft.subscriptions.before(id), draft.subscriptions.get(id)];
    if (billing(before) === billing(now)) continue;
    for (const item of draft.itemsOf(id)) concerned.add(item.customer_service_id);
  }
  return [...concerned].flatMap((id) => {
    const service = id === null ? undefined : draft.services.get(id);
    return service && !updated.some((one) => one.id === id) ? service : [];
  });
}

const billing = (row: StoredSubscription | undefined) =>
  `${row?.status === 'cancelled'} ${row?.customer_id} ${row?.cancel_at?.getTime()}`;
