import { reconciliationChanges } from '@/db/schema';
import { haveSameDays } from '../../../dates';
import { fetchAccount } from '../../../stripe/probe-account';
import type { Run } from '../lease';
import type { StripeDeps } from '../step';

/**
 * Reports an account whose calendar days are not ours: an invoice of the last evening of a month is then in another
 * month at Stripe. Without an answer the run goes on, because nothing else depends on it.
 */
export async function compareTimeZone(
  { db, stripe, log, now, timeZone }: StripeDeps,
  run: Run,
): Promise<null> {
  const account = await fetchAccount(stripe);
  if ('reason' in account) {
    log.warn({ run: run.id, reason: account.reason }, 'the time zone of the Stripe account is not known');
    return null;
  }
  if (account.timeZone === null || haveSameDays(account.timeZone, timeZone, now())) return null;
  await db.insert(reconciliationChanges).values({
    run_id: run.id,
    entity: 'account',
    entity_id: null,
    stripe_id: account.id,
    field: 'time_zone',
    before: timeZone,
    after: account.timeZone,
    outcome: 'reported',
  });
  run.counts.changes_count += 1;
  return null;
}
