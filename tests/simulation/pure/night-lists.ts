import {
  type ListRequest,
  listProviderDisputes,
  listProviderInvoices,
  listProviderRefunds,
  listProviderSubscriptions,
} from '@/lib/stripe/list';
import { applyObject, keysOfProvided, type Provided } from '@/lib/sync/decide/apply-object';
import type { Ordered } from '@/lib/sync/decide/order';
import { applyRetrieved } from '@/lib/sync/decide/retrieved';
import { findInSync } from '@/lib/sync/reconcile/steps/reconcile-lists';
import { inRun } from '@/lib/sync/reconcile/sync-object';
import { mergeKeys, noKeys } from '@/lib/sync/store/keys';
import type { Night } from './night';
import { resolveModelFailures } from './runs';
import type { ModelRows } from './tables';

/** A list of Stripe's, page by page. */
export function listed(kind: 'subscription' | 'invoice', status: string | null) {
  return async (night: Night) => {
    const isWindow = kind === 'subscription' ? status === 'all' : status === null;
    const createdFrom = isWindow ? night.work.windowFrom : null;
    await pages(night, kind, { status, createdFrom });
  };
}

/** All pages of a list. */
export async function pages(
  night: Night,
  kind: Ordered,
  filter: Pick<ListRequest, 'status' | 'createdFrom'>,
): Promise<void> {
  let after: string | null = null;
  do after = await page(night, kind, { ...filter, after });
  while (after !== null);
}

const READ = {
  subscription: listProviderSubscriptions,
  invoice: listProviderInvoices,
  refund: listProviderRefunds,
  dispute: listProviderDisputes,
};

async function page(night: Night, kind: Ordered, request: ListRequest): Promise<string | null> {
  const { deps, process, lease } = night;
  if (!deps.stripe) return null;
  const { objects, refused, asOf, next } = await READ[kind](deps.stripe, deps.now, request);
  for (const { id, error } of refused) await night.guarded(kind, id, () => Promise.reject(error));
  const unmet = await process.stating(() => objects.filter(({ id }) => !lease.row.seen.has(id)));
  const provided = unmet.map((value) => ({ kind, value }) as Provided);
  const done = provided.length > 0 ? await findInSync(deps, provided, asOf) : new Set();
  for (const object of provided) {
    if (done.has(object)) continue;
    await night.guarded(kind, object.value.id, () => apply(night, object, asOf));
  }
  await process.stating(() => {
    for (const { id } of unmet) lease.row.seen.add(id);
  });
  return next;
}

async function apply(night: Night, object: Provided, asOf: Date): Promise<void> {
  await inRun(night.deps, night.work, {
    stripeCustomerId: 'customer' in object.value ? (object.value.customer?.stripeCustomerId ?? null) : null,
    keys: keysOfProvided(object),
    decide: (draft) => applyObject(draft, object, { origin: 'listed', asOf }),
  });
  await resolve(night, object.kind, object.value.id);
}

const resolve = ({ process, model }: Night, kind: Ordered, id: string) =>
  process.stating(() => resolveModelFailures(model, kind, (one) => one === id));

/** As `retrieveAndApply`. */
export async function retrieve(night: Night, kind: Ordered, id: string): Promise<void> {
  const reason = await inRun(night.deps, night.work, {
    stripeCustomerId: null,
    keys: mergeKeys(noKeys(), { [`${kind}s`]: [id] }),
    decide: (draft) => applyRetrieved(draft, kind, id),
  });
  if (reason === undefined) await resolve(night, kind, id);
  else await night.fail(kind, id);
}

/** Those of ours that are open, and that no list showed. */
export function unseen(kind: Ordered) {
  return async (night: Night) => {
    const ids = await night.process.stating(() => unseenOf(night, kind));
    for (const id of ids) await night.guarded(kind, id, () => retrieve(night, kind, id));
  };
}

function unseenOf({ model, lease }: Night, kind: Ordered): string[] {
  return KNOWN[kind](model.tables.rows)
    .filter((row) => row.provider_gone_at === null && !CLOSED[kind].includes(row.status))
    .sort((a, b) => a.id - b.id)
    .flatMap(({ stripeId }) => (stripeId === null || lease.row.seen.has(stripeId) ? [] : stripeId));
}

interface Known {
  id: number;
  status: string;
  provider_gone_at: Date | null;
  stripeId: string | null;
}

const KNOWN: Record<Ordered, (rows: ModelRows) => Known[]> = {
  subscription: ({ subscriptions }) =>
    [...subscriptions.values()].map((row) => ({ ...row, stripeId: row.stripe_subscription_id })),
  invoice: ({ invoices }) =>
    [...invoices.values()].map((row) => ({ ...row, stripeId: row.stripe_invoice_id })),
  refund: ({ refunds }) => [...refunds.values()].map((row) => ({ ...row, stripeId: row.stripe_refund_id })),
  dispute: ({ disputes }) =>
    [...disputes.values()].map((row) => ({ ...row, stripeId: row.stripe_dispute_id })),
};

const CLOSED: Record<Ordered, string[]> = {
  subscription: ['cancelled'],
  invoice: ['paid', 'cancelled'],
  refund: ['succeeded', 'failed', 'cancelled'],
  dispute: ['won', 'lost', 'warning_closed', 'prevented'],
};
