import type { Alert } from '../health/check-health';

/** Codes of the problems that are reported. `database_down` also covers a database that is not migrated. */
export type Cause = Alert['code'] | 'database_down' | 'test';

/** What to do about each problem. docs/operations.md says more. */
const ADVICE: Record<Cause, string> = {
  database_down:
    'Start the database, or correct DATABASE_URL. If the log says that it is not migrated, run npm run db:migrate. Stripe delivers events again by itself.',
  disk_full: 'Free space on the disk of the database. Nothing needs a restart, and Stripe delivers again.',
  disk_low: 'Free space on the disk of DATA_DIR, or move DATA_DIR to a larger disk.',
  reconciliation_overdue:
    'Start a reconciliation on the page Reconciliation. Check that the server ran at 03:40, or that the cron job calls it.',
  reconciliation_silent:
    'Nothing at first: the next run takes it up. Look in the log for what ended the process.',
  reconciliation_failed:
    'Open the run on the page Reconciliation. It names the error, and usually means that Stripe or the API key refused.',
  reconciliation_drift:
    'Check in Stripe’s dashboard that deliveries to the endpoint succeed, then compare the changes of the run.',
  inbox_failures:
    'Open the page Webhooks, filter it by failed events, and retry them once the cause is removed.',
  inbox_other_mode: 'Use the webhook secret and the API keys of the same mode (test or live).',
  inbox_thin: 'Choose snapshot payloads for the endpoint in Stripe’s dashboard.',
  webhook_refuses:
    'Copy the endpoint’s signing secret from Stripe’s dashboard to STRIPE_WEBHOOK_SECRET, and restart.',
  time_zone_differs: 'Set APP_TIMEZONE to the time zone of the Stripe account, and restart.',
  registrations_refused: 'If the address is that of your proxy, add it to TRUSTED_PROXIES, and restart.',
  counts_wrong: 'Run npm run db:recount.',
  test: 'Nothing. This alert checks the way to you.',
};

/** Returns what to do about a problem. A row that a later version wrote may have an unknown cause. */
export function adviceFor(cause: string): string {
  return Object.hasOwn(ADVICE, cause) ? ADVICE[cause as Cause] : 'See docs/operations.md.';
}

/** Problems that are stored in a file, because the database may refuse reads or writes while they last. */
export const isStoredOutside = (cause: string): boolean =>
  cause === 'database_down' || cause === 'disk_full' || cause === 'disk_low';
