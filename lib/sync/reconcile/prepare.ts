import { asc, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  accountingEntries,
  customerServices,
  customers,
  disputes,
  invoices,
  oauthAccessTokens,
  oauthClientAssertions,
  oauthClients,
  oauthConsents,
  oauthRefreshTokens,
  payments,
  paymentTombstones,
  reconciliationChanges,
  reconciliationFailures,
  reconciliationRuns,
  reconciliationSeen,
  refunds,
  staffTasks,
  stripeCustomers,
  stripeEvents,
  subscriptionItems,
  subscriptions,
  toolCalls,
} from '@/db/schema';
import { copyToScratch } from '@/db/scratch-copy';
import { StartError } from '../../errors';
import { literal } from '../../page-query';
import { probeAccount } from '../../stripe/fetch';
import type { SyncDeps } from '../sync-deps';
import type { StripeDeps } from './object';

/** How many that are here Stripe is asked for at most: one that it knows is enough. */
const ASKED_FOR = 3;

/** With the key of another account or mode, a run would take all for deleted. @throws StartError */
export async function requireAccount(deps: SyncDeps): Promise<StripeDeps> {
  const { db, stripe } = deps;
  if (!stripe) throw new StartError(['STRIPE_SECRET_KEY is not set: Stripe cannot be asked.']);
  const known = await db
    .select({ id: stripeCustomers.stripe_customer_id })
    .from(stripeCustomers)
    .orderBy(asc(stripeCustomers.stripe_customer_id))
    .limit(literal(ASKED_FOR));
  const probe = await probeAccount(
    stripe,
    known.map(({ id }) => id),
  );
  if (probe === 'refused') {
    throw new StartError(['Stripe refuses STRIPE_SECRET_KEY: take one that its dashboard shows as active.']);
  }
  if (probe === 'other') {
    throw new StartError([
      'Stripe knows none of the Stripe customers that are here: STRIPE_SECRET_KEY is for another account or the wrong mode (test or live).',
    ]);
  }
  if (probe !== 'known') throw new StartError([`Stripe does not answer (${probe.silent}): try again later.`]);
  return { ...deps, stripe };
}

/** Stripe keeps events for 30 days: older ones meet no new ones. */
const EVENT_DAYS = 35;

/** All that sync then does over `db`, one connection that writes only temporary tables, happens to copies. */
export async function beginDryRun({ db, now }: { db: Database; now(): Date }): Promise<void> {
  const since = new Date(now().getTime() - EVENT_DAYS * 86_400_000).toISOString();
  await copyToScratch(db, [
    { table: customers },
    { table: stripeCustomers },
    { table: customerServices },
    { table: subscriptions },
    { table: subscriptionItems },
    { table: invoices },
    { table: payments },
    { table: refunds },
    { table: disputes },
    { table: paymentTombstones },
    { table: staffTasks },
    // Of the inbox what is tried again, and what later events are compared with.
    {
      table: stripeEvents,
      where: sql`outcome in ('failed', 'unmatched') or type = 'checkout.session.completed'
        or stripe_created > ${since}::timestamptz`,
    },
    { table: reconciliationRuns, where: sql`status <> 'running'` },
    { table: reconciliationChanges, where: sql`false` },
    { table: reconciliationFailures, where: sql`resolved_at is null` },
    { table: reconciliationSeen, where: sql`false` },
    // Of what a run only forgets, or only adds to, nothing.
    ...[
      accountingEntries,
      toolCalls,
      oauthAccessTokens,
      oauthRefreshTokens,
      oauthClientAssertions,
      oauthClients,
      oauthConsents,
    ].map((table) => ({
      table,
      where: sql`false`,
    })),
  ]);
}
