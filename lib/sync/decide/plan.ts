import type { FieldChange } from '@/db/schema';
import type { AuditEntry } from '../../audit/audit-log';
import { isSure } from '../../customers/sure-link';
import {
  type StoredDispute,
  type StoredInvoice,
  type StoredLink,
  type StoredPayment,
  type StoredRefund,
  type StoredRows,
  type StoredService,
  type StoredSubscription,
  TABLE_NAMES,
  type TableName,
} from '../snapshot';
import type { Draft, Table } from './draft';

/** The changes to one table. Negative ids are temporary. The commit replaces them. */
export interface TablePlan<Row> {
  inserted: Row[];
  /** Rows with their new values. `version` is still the version that was read. */
  updated: Row[];
  deleted: Row[];
}

type TablePlans = { [Name in TableName]: TablePlan<StoredRows[Name]> };

export interface Plan extends TablePlans {
  moves: Draft['moves'];
  handedOver: Draft['handedOver'];
  abandoned: number[];
  audits: AuditEntry[];
  tasks: Draft['tasks'];
  tasksOver: Draft['tasksOver'];
  concerned: string[];
  /** Customer numbers that no customer had, and customers found by e-mail address. The commit checks both again. */
  absentNumbers: string[];
  emails: { email: string; ids: number[] }[];
  /** Links that get a new version and no other change. */
  touched: Pick<StoredLink, 'stripe_customer_id' | 'version'>[];
  changes: FieldChange[];
  warnings: string[];
}

export function toPlan(draft: Draft): Plan {
  const links = toTablePlan(draft.links);
  const services = toTablePlan(draft.services);
  const invoices = toTablePlan(draft.invoices);
  const payments = toTablePlan(draft.payments);
  services.updated.push(...billedAnew(draft, services.updated));
  payments.updated.push(...paidBackAnew(draft, payments));
  return {
    links,
    customers: toTablePlan(draft.customers),
    services,
    subscriptions: toTablePlan(draft.subscriptions),
    items: toTablePlan(draft.items),
    invoices: { ...invoices, updated: invoices.updated.map((row) => afterHandover(draft, row)) },
    payments: { ...payments, updated: payments.updated.map((row) => afterMoves(draft, row)) },
    refunds: toTablePlan(draft.refunds),
    disputes: toTablePlan(draft.disputes),
    moves: draft.moves,
    handedOver: draft.handedOver,
    abandoned: draft.abandoned,
    audits: draft.audits,
    tasks: draft.tasks,
    tasksOver: draft.tasksOver,
    concerned: [...draft.concerned],
    absentNumbers: [...draft.met.absentNumbers],
    emails: [...draft.met.emails].map(([email, ids]) => ({ email, ids })),
    touched: touched(draft, links.updated),
    changes: draft.changes,
    warnings: [...draft.warnings],
  };
}

/** Adjusts the expected version: the commit hands the invoice over before this update, which raises the version. */
function afterHandover(draft: Draft, row: StoredInvoice): StoredInvoice {
  const before = draft.invoices.before(row.id)?.subscription_id;
  const isHandedOver = draft.handedOver.some(({ from }) => from === before);
  return isHandedOver ? { ...row, version: row.version + 1 } : row;
}

/** Adjusts the expected version: each earlier move of the payment with its Stripe customer raises the version. */
function afterMoves(draft: Draft, row: StoredPayment): StoredPayment {
  const owner = draft.invoices.get(row.invoice_id)?.stripe_customer_id;
  const moves = draft.moves.filter((move) => move.stripe_customer_id === owner);
  const customers = [draft.payments.before(row.id), ...moves].map((of) => of?.customer_id);
  const moved = customers.filter((id, at) => at > 0 && id !== customers[at - 1]);
  return { ...row, version: row.version + moved.length };
}

/** Returns whether the plan changes nothing. A link that only gets a new version does not count. */
export function isEmpty(plan: Plan): boolean {
  const lists = [
    plan.changes,
    plan.moves,
    plan.handedOver,
    plan.abandoned,
    plan.audits,
    plan.tasks,
    plan.tasksOver,
  ];
  return lists.every((list) => list.length === 0) && TABLE_NAMES.every((name) => isUnchanged(plan[name]));
}

const isUnchanged = ({ inserted, updated, deleted }: TablePlan<unknown>) =>
  inserted.length + updated.length + deleted.length === 0;

function toTablePlan<Key extends string | number, Row extends object>(
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

function touched(draft: Draft, updated: StoredLink[]): Pick<StoredLink, 'stripe_customer_id' | 'version'>[] {
  return [...draft.concerned].sort().flatMap((id) => {
    const before = draft.links.before(id);
    const isUpdated = updated.some((link) => link.stripe_customer_id === id);
    return before && !isUpdated ? { stripe_customer_id: id, version: before.version } : [];
  });
}

/** Returns services that need a new version, so that a simultaneous decision about another subscription conflicts. */
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
  for (const [link, now] of draft.links.changed) {
    if (isSureLink(draft.links.before(link)) === isSureLink(now)) continue;
    for (const { id } of draft.subscriptions.all().filter((row) => row.stripe_customer_id === link)) {
      for (const item of draft.itemsOf(id)) concerned.add(item.customer_service_id);
    }
  }
  return [...concerned].flatMap((id) => {
    const service = id === null ? undefined : draft.services.get(id);
    return service && !updated.some((one) => one.id === id) ? service : [];
  });
}

/** Returns refunded payments that need a new version, so that a simultaneous decision about them conflicts. */
function paidBackAnew(
  draft: Draft,
  { inserted, updated }: Record<'inserted' | 'updated', StoredPayment[]>,
): StoredPayment[] {
  const planned = new Set([...inserted, ...updated].map(({ id }) => id));
  const concerned = [draft.refunds, draft.disputes].flatMap((table) =>
    [...table.changed.keys()].flatMap((id) => {
      const [before, now] = [table.before(id), table.get(id)];
      return countedBy(before) === countedBy(now) ? [] : [before?.payment_id ?? 0, now?.payment_id ?? 0];
    }),
  );
  return [...new Set(concerned)].flatMap((id) => {
    const payment = planned.has(id) ? undefined : draft.payments.get(id);
    return payment ?? [];
  });
}

function countedBy(row: StoredRefund | StoredDispute | undefined): string {
  if (!row) return '';
  const { payment_id, amount, currency, status } = row;
  const other = 'source' in row ? [row.source] : [row.funds_withdrawn_at, row.funds_returned_at];
  return JSON.stringify([payment_id, Number(amount), currency, status, ...other]);
}

const isSureLink = (link: StoredLink | null | undefined) =>
  Boolean(link && isSure({ linkedBy: link.linked_by }));

const billing = (row: StoredSubscription | undefined) =>
  `${row?.status === 'cancelled'} ${row?.customer_id} ${row?.cancel_at?.getTime()}`;
