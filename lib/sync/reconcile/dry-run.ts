import { sql } from 'drizzle-orm';
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
