import { isSure } from '../../customers/sure-link';
import type {
  StoredDispute,
  StoredLink,
  StoredPayment,
  StoredRefund,
  StoredService,
  StoredSubscription,
} from '../store/rows';
import type { Draft } from './draft';

export function touched(
  draft: Draft,
  updated: StoredLink[],
): Pick<StoredLink, 'stripe_customer_id' | 'version'>[] {
  return [...draft.concerned].sort().flatMap((id) => {
    const before = draft.links.before(id);
    const isUpdated = updated.some((link) => link.stripe_customer_id === id);
    return before && !isUpdated ? { stripe_customer_id: id, version: before.version } : [];
  });
}

/** Raise the version of a service, so that a simultaneous decision about another of its subscriptions conflicts. */
export function billedAnew(draft: Draft, updated: StoredService[]): StoredService[] {
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

/** Raise the version of a refunded payment, so that a simultaneous decision about it conflicts. */
export function paidBackAnew(
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
