import { listProviderInvoices, listProviderSubscriptions } from '@/lib/stripe/list';
import { applyRetrieved } from '@/lib/sync/decide/retrieved';
import { findInSync } from '@/lib/sync/reconcile/steps/reconcile-lists';
import {
  decideListed,
  inRun,
  type Kind,
  keysOfProvided,
  type Provided,
} from '@/lib/sync/reconcile/sync-object';
import { mergeKeys, noKeys } from '@/lib/sync/store/keys';
import type { Night } from './night';
import { resolveModelFailures } from './runs';

/** A list of Stripe's, page by page. */
export function listed(kind: Kind, status: string | null) {
  return async (night: Night) => {
    const isWindow = kind === 'subscription' ? status === 'all' : status === null;
    const createdFrom = isWindow ? night.work.windowFrom : null;
    let after: string | null = null;
    do after = await page(night, kind, { status, createdFrom, after });
    while (after !== null);
  };
}

async function page(
  night: Night,
  kind: Kind,
  request: Parameters<typeof listProviderInvoices>[2],
): Promise<string | null> {
  const { deps, process, lease } = night;
  if (!deps.stripe) return null;
  const read = kind === 'subscription' ? listProviderSubscriptions : listProviderInvoices;
  const { objects, refused, asOf, next } = await read(deps.stripe, deps.now, request);
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
    stripeCustomerId: object.value.customer?.stripeCustomerId ?? null,
    keys: keysOfProvided(object),
    decide: (draft) => decideListed(draft, object, asOf),
  });
  await resolve(night, object.kind, object.value.id);
}

const resolve = ({ process, model }: Night, kind: Kind, id: string) =>
  process.stating(() => resolveModelFailures(model, kind, (one) => one === id));

/** As `retrieveAndApply`. */
export async function retrieve(night: Night, kind: Kind, id: string): Promise<void> {
  const reason = await inRun(night.deps, night.work, {
    stripeCustomerId: null,
    keys: mergeKeys(noKeys(), kind === 'subscription' ? { subscriptions: [id] } : { invoices: [id] }),
    decide: (draft) => applyRetrieved(draft, kind, id),
  });
  if (reason === undefined) await resolve(night, kind, id);
  else await night.fail(kind, id);
}

/** Those of ours that are open, and that no list showed. */
export function unseen(kind: Kind) {
  return async (night: Night) => {
    const ids = await night.process.stating(() => unseenOf(night, kind));
    for (const id of ids) await night.guarded(kind, id, () => retrieve(night, kind, id));
  };
}

function unseenOf({ model, lease }: Night, kind: Kind): string[] {
  const { subscriptions, invoices } = model.tables.rows;
  const known =
    kind === 'subscription'
      ? [...subscriptions.values()].map((row) => ({ ...row, stripeId: row.stripe_subscription_id }))
      : [...invoices.values()].map((row) => ({ ...row, stripeId: row.stripe_invoice_id }));
  return known
    .filter((row) => row.provider_gone_at === null && !CLOSED[kind].includes(row.status))
    .sort((a, b) => a.id - b.id)
    .flatMap(({ stripeId }) => (stripeId === null || lease.row.seen.has(stripeId) ? [] : stripeId));
}

const CLOSED: Record<Kind, string[]> = { subscription: ['cancelled'], invoice: ['paid', 'cancelled'] };
