import { isSure } from '../../customers/sure-link';
import type {
  StoredDispute,
  StoredInvoice,
  StoredLink,
  StoredPayment,
  StoredRefund,
  StoredService,
  StoredSubscription,
} from '../../store/snapshot';
import { emptyPlan, type Plan, toTablePlan } from '../../store/snapshot';
import type { Draft } from './draft';

export function toPlan(draft: Draft): Plan {
  const links = toTablePlan(draft.links);
  const services = toTablePlan(draft.services);
  const invoices = toTablePlan(draft.invoices);
  const payments = toTablePlan(draft.payments);
  services.updated.push(...billedAnew(draft, services.updated));
  payments.updated.push(...paidBackAnew(draft, payments));
  return {
    ...emptyPlan(),
    links,
    customers: toTablePlan(draft.customers),
    services,
    subscriptions: toTablePlan(draft.subscriptions),
    items: toTablePlan(draft.items),
    invoices: { ...invoices, updated: invoices.updated.map((row) => afterHandover(draft, row)) },
    payments: { ...payments, updated: payments.updated.map((row) => afterMoves(draft, row)) },
    lines: [...draft.lines].map(([invoice_id, lines]) => ({ invoice_id, lines })),
    creditNotes: draft.creditNotes,
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
    reportedMoney: reportedMoney(draft),
    touched: touched(draft, links.updated),
    changes: draft.changes,
    warnings: [...draft.warnings],
  };
}

/** Returns the ids of Stripe's money that payments gain, except those of payments that the decision has seen. */
function reportedMoney(draft: Draft): string[] {
  const seen = new Set<string | null>(draft.payments.all().map((row) => row.payment_reference));
  return [...draft.payments.changed].flatMap(([id, row]) => {
    const before = draft.payments.before(id);
    const gained = [
      before?.stripe_payment_intent_id ? null : row?.stripe_payment_intent_id,
      before?.stripe_charge_id ? null : row?.stripe_charge_id,
    ];
    return gained.flatMap((one) => (one && !seen.has(one) ? one : []));
  });
}

/**
 * Returns an invoice with the version that its update must expect. A handover runs before the update and increments the
 * version.
 */
function afterHandover(draft: Draft, row: StoredInvoice): StoredInvoice {
  const before = draft.invoices.before(row.id)?.subscription_id;
  const isHandedOver = draft.handedOver.some(({ from }) => from === before);
  return isHandedOver ? { ...row, version: row.version + 1 } : row;
}

/**
 * Returns a payment with the version that its update must expect. The moves to other customers run before the update,
 * and each one increments the version.
 */
function afterMoves(draft: Draft, row: StoredPayment): StoredPayment {
  const owner = draft.invoices.get(row.invoice_id)?.stripe_customer_id;
  const moves = draft.moves.filter((move) => move.stripe_customer_id === owner);
  const customers = [draft.payments.before(row.id), ...moves].map((of) => of?.customer_id);
  const moved = customers.filter((id, at) => at > 0 && id !== customers[at - 1]);
  return { ...row, version: row.version + moved.length };
}

function touched(draft: Draft, updated: StoredLink[]): Pick<StoredLink, 'stripe_customer_id' | 'version'>[] {
  return [...draft.concerned].sort().flatMap((id) => {
    const before = draft.links.before(id);
    const isUpdated = updated.some((link) => link.stripe_customer_id === id);
    return before && !isUpdated ? { stripe_customer_id: id, version: before.version } : [];
  });
}

/**
 * Returns unchanged services whose billing changes. Incrementing their version makes concurrent decisions conflict.
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

/**
 * Returns unchanged payments whose refunds or disputes change. Incrementing their version makes concurrent decisions
 * conflict.
 */
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
