import { and, asc, eq, gt, isNotNull, isNull, notExists, or, sql } from 'drizzle-orm';
import { rows } from '@/db/database';
import { invoices, reconciliationFailures, stripeCustomers, stripeEvents, subscriptions } from '@/db/schema';
import { keysOf } from '../../store/snapshot';
import { listProviderCheckouts, probeAccount } from '../../stripe/fetch';
import { recheckLink } from '../decide/customer';
import { keysOfCheckout } from '../decide/object';
import { applyCheckout, settleMoved } from '../decide/subscription/checkout';
import { replayEvent } from '../inbox/handle-event';
import type { SyncDeps } from '../sync-deps';
import {
  guarded,
  inRun,
  nextAfter,
  recordFailure,
  resolveFailures,
  retrieveEach,
  retrieveGuarded,
  STEP_PAGE,
  type StepPage,
  type StripeDeps,
} from './object';
import type { Run } from './run';

/** Maximum number of Stripe customers to look up from each table. If Stripe finds one, the API key is correct. */
const ASKED_FOR = 3;

/**
 * Asks Stripe for some stored Stripe customers, among them those of the newest invoices. An account that has none of
 * them is another one, or in the other mode. Every stored object would then look deleted.
 */
export async function probeStored({ db, stripe }: StripeDeps): ReturnType<typeof probeAccount> {
  const known = await rows<{ id: string }>(
    db,
    sql`with newest as (select stripe_customer_id as id from invoices where stripe_customer_id is not null
        order by invoices.id desc limit ${sql.raw(String(ASKED_FOR))})
      select id from newest union
        (select stripe_customer_id from stripe_customers
          order by stripe_customer_id limit ${sql.raw(String(ASKED_FOR))})`,
  );
  return probeAccount(
    stripe,
    known.map(({ id }) => id),
  );
}

/**
 * Returns a step that retrieves the objects of a kind that are marked for a recheck or incomplete. A subscription is
 * incomplete if only a reference to it is known, and an invoice if not all of its lines are stored.
 */
export const recheck =
  (kind: 'subscription' | 'invoice'): StepPage<StripeDeps> =>
  async (deps, run, after) => {
    const table = kind === 'subscription' ? subscriptions : invoices;
    const column =
      kind === 'subscription' ? subscriptions.stripe_subscription_id : invoices.stripe_invoice_id;
    const isPartial =
      kind === 'subscription' ? sql`${subscriptions.is_stub}` : sql`not ${invoices.lines_complete}`;
    const found = await deps.db
      .select({ id: table.id, stripe_id: column })
      .from(table)
      .where(
        and(
          isNotNull(column),
          isNull(table.provider_gone_at),
          gt(table.id, Number(after ?? 0)),
          or(isNotNull(table.recheck_at), isPartial),
        ),
      )
      .orderBy(asc(table.id))
      .limit(STEP_PAGE);
    return retrieveEach(deps, run, kind, found);
  };

export const retryFailures: StepPage<StripeDeps> = async (deps, run, after) => {
  const { id, object: kind, stripe_id, resolved_at } = reconciliationFailures;
  // An object has one row for each run in which it failed.
  const first = sql<number>`min(${id})`.mapWith(id);
  const failed = await deps.db
    .select({ id: first, object: kind, stripeId: stripe_id })
    .from(reconciliationFailures)
    .where(isNull(resolved_at))
    .groupBy(kind, stripe_id)
    .having(gt(first, Number(after ?? 0)))
    .orderBy(first)
    .limit(STEP_PAGE);
  for (const { object, stripeId } of failed) {
    // Other steps retry these objects.
    if (object === 'event' || object === 'customer' || object === 'payout') continue;
    await retrieveGuarded(deps, run, object, stripeId);
  }
  return nextAfter(failed);
};

/** Asks Stripe again about Stripe customers that were linked while Stripe did not answer. */
export const recheckCustomers: StepPage<StripeDeps> = async (deps, run, after) => {
  const { stripe_customer_id: column, recheck_at } = stripeCustomers;
  const found = await deps.db
    .select({ id: column })
    .from(stripeCustomers)
    .where(and(isNotNull(recheck_at), gt(column, after ?? '')))
    .orderBy(asc(column))
    .limit(STEP_PAGE);
  for (const { id } of found) await guarded(deps, run, 'customer', id, () => recheckCustomer(deps, run, id));
  const next = nextAfter(found);
  if (next !== null) return next;
  const stillFails = deps.db
    .select({ one: sql`1` })
    .from(stripeCustomers)
    .where(and(eq(column, reconciliationFailures.stripe_id), isNotNull(recheck_at)));
  // This also resolves failures of Stripe customers whose link another process has decided in the meantime.
  await resolveFailures(deps, 'customer', notExists(stillFails));
  return null;
};

async function recheckCustomer(deps: StripeDeps, run: Run, id: string): Promise<void> {
  const failure = await inRun(deps, run, {
    stripeCustomerId: id,
    keys: keysOf({ stripeCustomers: [id] }),
    decide: (draft) => {
      const failure = recheckLink(draft, id);
      settleMoved(draft);
      return failure;
    },
  });
  if (failure) await recordFailure(deps, run, 'customer', id, failure);
}

// The value is a literal, so that PostgreSQL can use the partial index on failed and unmatched events.
const hasFailed = sql`${stripeEvents.outcome} = 'failed'`;

export const retryFailedEvents: StepPage<SyncDeps> = async (deps, run, after) => {
  const { mode } = deps;
  const isOfKeys = mode === null ? undefined : eq(stripeEvents.livemode, mode === 'live');
  const failed = await deps.db
    .select({ id: stripeEvents.id })
    .from(stripeEvents)
    .where(and(hasFailed, isOfKeys, isNull(stripeEvents.failure_reason), gt(stripeEvents.id, after ?? '')))
    .orderBy(asc(stripeEvents.id))
    .limit(STEP_PAGE);
  for (const { id } of failed) {
    await guarded(deps, run, 'event', id, async () => {
      await replayEvent(deps, id);
    });
  }
  const next = nextAfter(failed);
  if (next !== null) return next;
  const stillFails = deps.db
    .select({ one: sql`1` })
    .from(stripeEvents)
    .where(and(eq(stripeEvents.id, reconciliationFailures.stripe_id), hasFailed));
  await resolveFailures(deps, 'event', notExists(stillFails)); // Staff or another delivery may have applied the event.
  return null;
};

export const linkCheckouts: StepPage<StripeDeps> = async (deps, run, after) => {
  const unlinked = await rows<{ id: number; stripe_customers: string[] }>(
    deps.db,
    sql`select s.id, array_agg(c.stripe_customer_id order by c.stripe_customer_id) as stripe_customers
      from subscriptions s join stripe_customers c using (customer_id)
      where s.stripe_subscription_id is null and s.status <> 'cancelled' and s.id > ${Number(after ?? 0)}::int
      group by s.id order by s.id limit ${sql.raw(String(STEP_PAGE))}`,
  );
  for (const { id, stripe_customers } of unlinked) {
    for (const customer of stripe_customers) {
      await guarded(deps, run, 'customer', customer, () => linkCheckout(deps, run, id, customer));
    }
  }
  return nextAfter(unlinked);
};

/**
 * Applies a Stripe customer's checkouts that refer to the sold subscription `id`. While the subscription is not merged,
 * each run asks Stripe again.
 */
async function linkCheckout(deps: StripeDeps, run: Run, id: number, customer: string): Promise<void> {
  const found = await listProviderCheckouts(deps.stripe, customer);
  for (const checkout of found.filter(({ reference }) => reference === id)) {
    await inRun(deps, run, {
      stripeCustomerId: customer,
      keys: keysOf(keysOfCheckout(checkout)),
      decide: (draft) => {
        applyCheckout(draft, checkout);
        settleMoved(draft);
      },
    });
  }
}
