import { waitUntil } from '@vercel/functions';
import { Cron } from 'croner';
import { sql } from 'drizzle-orm';
import { type Database, pgErrorCode, rows } from '@/db/database';
import * as schema from '@/db/schema';
import { copyToScratch } from '@/db/scratch-copy';
import type { Env } from '../../env';
import { StartError } from '../../errors';
import { type Logger, stackOf } from '../../log';
import { type SyncDeps, syncDeps } from '../sync-deps';
import type { StripeDeps } from './object';
import { probeStored } from './rechecks';
import { performRun } from './reconcile';
import { acquireRun, aliveBetween, type Run, type RunRequest } from './run';

/** Every day at 03:40. vercel.json contains the same schedule, which Vercel interprets in UTC. */
const DAILY = '40 3 * * *';
/** Every two minutes, so that a dead or missed run does not wait for the next daily reconciliation. */
const POLL = '*/2 * * * *';
/** Hours after which the last run is too old: one day, plus one hour in case a run started late. */
const OVERDUE_HOURS = 25;

interface ScheduleDeps {
  db: Database;
  log: Logger;
  now(): Date;
  /** Time zone in which the daily reconciliation starts at 03:40. Null for the machine's time zone. */
  timeZone: string | null;
}

/**
 * Starts the daily schedule, and reconciles whenever a regular check finds that no run started recently or that a run is
 * dead. The first check is immediate. A run may be missed because no server was running at 03:40, or because the
 * database did not answer. A failed run does not end the schedule.
 */
export async function startSchedule(
  deps: ScheduleDeps,
  reconcile: () => Promise<unknown>,
): Promise<{ stop(): void }> {
  const run = async () => {
    await reconcile().catch((error: unknown) => logFailure(deps, error));
  };
  const daily = new Cron(DAILY, { unref: true, ...(deps.timeZone && { timezone: deps.timeZone }) }, run);
  const catchUp = async () => {
    const found = await poll(deps);
    // Do not wait for the run to finish, because the server must start.
    if (found && (found.dead || !found.recent)) void run();
  };
  await catchUp();
  const polling = new Cron(POLL, { unref: true, protect: true }, catchUp);
  return {
    stop: () => {
      daily.stop();
      polling.stop();
    },
  };
}

/**
 * Checks whether a run started recently and whether a run is dead.
 *
 * @returns both answers; undefined if the database does not answer
 */
async function poll(deps: ScheduleDeps): Promise<{ recent: boolean; dead: boolean } | undefined> {
  const now = deps.now();
  const [alive, ahead] = aliveBetween(now).map((time) => time.toISOString());
  try {
    const [found] = await rows<{ recent: boolean; dead: boolean }>(
      deps.db,
      sql`select
        exists (select from reconciliation_runs
          where started_at > ${now.toISOString()}::timestamptz - ${OVERDUE_HOURS} * interval '1 hour'
            and started_at <= ${now.toISOString()}::timestamptz) as recent,
        exists (select from reconciliation_runs where status = 'running'
          and heartbeat_at not between ${alive}::timestamptz and ${ahead}::timestamptz) as dead`,
    );
    return found;
  } catch (error) {
    logFailure(deps, error);
    return undefined;
  }
}

function logFailure({ log }: ScheduleDeps, error: unknown): void {
  // Never log the driver's message, because it contains the parameters.
  const name = error instanceof Error ? error.name : typeof error;
  log.error({ error: name, code: pgErrorCode(error) }, 'scheduled reconciliation failed');
}

type Runtime = Parameters<typeof syncDeps>[0] &
  Parameters<typeof runDeadline>[0] &
  Parameters<typeof continueRun>[0];

export async function startReconciliation(
  runtime: Runtime,
  request: RunRequest,
): Promise<{ runId: number; alreadyRunning: boolean }> {
  const { db, now, stripe, env } = runtime;
  const run = await acquireRun(db, now(), request, { stripe, timeZone: env.timeZone });
  if ('runningId' in run) return { runId: run.runningId, alreadyRunning: true };
  waitUntil(goOn(runtime, run));
  return { runId: run.id, alreadyRunning: false };
}

async function goOn(runtime: Runtime, run: Run): Promise<void> {
  try {
    const { status } = await performRun(syncDeps(runtime), run, runDeadline(runtime));
    if (status === 'stopped') continueRun(runtime);
  } catch (error) {
    runtime.log.error(
      { run: run.id, code: pgErrorCode(error), stack: stackOf(error) },
      'reconciliation ended early',
    );
  }
}

/** Milliseconds after which a run on Vercel stops. The rest of Vercel's 300 s is enough for the current object. */
const BUDGET_MS = 240_000;
/** Time limit of the request. It only has to arrive, because the new process then continues without its caller. */
const HANDOVER_MS = 10_000;

export function runDeadline({ env, now }: { env: Pick<Env, 'vercel'>; now(): Date }): { deadline?: Date } {
  return env.vercel ? { deadline: new Date(now().getTime() + BUDGET_MS) } : {};
}

/** Requests a new process that continues the run. If the request fails, the next scheduled call resumes the run. */
export function continueRun({ env, log }: { env: Pick<Env, 'publicUrl' | 'cronSecret'>; log: Logger }): void {
  const asked = fetch(`${env.publicUrl}/api/cron/reconcile`, {
    headers: { Authorization: `Bearer ${env.cronSecret}` },
    signal: AbortSignal.timeout(HANDOVER_MS),
  });
  waitUntil(
    asked.then(
      ({ status, ok }) => ok || log.error({ status }, 'reconciliation was refused its continuation'),
      (error: unknown) => {
        const isUnderWay = error instanceof Error && error.name === 'TimeoutError';
        if (!isUnderWay) log.error('reconciliation could not go on: the next run takes it up');
      },
    ),
  );
}

/**
 * Checks that the API key belongs to the account and mode of the stored Stripe customers. With another key, every
 * stored object would look deleted.
 *
 * @throws StartError
 */
export async function requireAccount(deps: SyncDeps): Promise<StripeDeps> {
  const { stripe } = deps;
  if (!stripe) throw new StartError(['STRIPE_SECRET_KEY is not set: Stripe cannot be asked.']);
  const probe = await probeStored({ ...deps, stripe });
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

/**
 * Number of days for which all events are copied. Stripe keeps events for 30 days, so older events are never compared.
 */
const EVENT_DAYS = 35;

/** Copies tables to temporary tables, so that sync changes only the copies. @param db a single connection */
export async function beginDryRun({ db, now }: { db: Database; now(): Date }): Promise<void> {
  const since = new Date(now().getTime() - EVENT_DAYS * 86_400_000).toISOString();
  const { customers, stripeCustomers, customerServices, subscriptions, subscriptionItems } = schema;
  const { invoices, stripeInvoiceLines, transfers, payments, refunds, disputes } = schema;
  const { paymentTombstones, staffTasks, stripePayouts, stripePayoutEntries } = schema;
  const whole = [
    ...[customers, stripeCustomers, customerServices, subscriptions, subscriptionItems],
    ...[invoices, stripeInvoiceLines, transfers, payments, refunds, disputes, paymentTombstones, staffTasks],
    ...[stripePayouts, stripePayoutEntries],
  ];
  // These tables can start empty, because a dry run does not print changes to their rows.
  const { accountingEntries, toolCalls, oauthAccessTokens, oauthRefreshTokens } = schema;
  const { oauthClientAssertions, oauthClients, oauthConsents } = schema;
  const empty = [
    ...[schema.reconciliationChanges, schema.reconciliationSeen, accountingEntries, toolCalls],
    ...[oauthAccessTokens, oauthRefreshTokens, oauthClientAssertions, oauthClients, oauthConsents],
    ...[schema.invoiceDocuments, schema.creditNotes, schema.salesDocumentFiles],
    ...[schema.monthStates, schema.monthAmounts],
  ];
  await copyToScratch(db, [
    ...whole.map((table) => ({ table })),
    // Copy only events that may be applied again, or with which newer events may be compared.
    {
      table: schema.stripeEvents,
      where: sql`outcome in ('failed', 'unmatched') or type = 'checkout.session.completed'
        or stripe_created > ${since}::timestamptz`,
    },
    { table: schema.reconciliationRuns, where: sql`status <> 'running'` },
    { table: schema.reconciliationFailures, where: sql`resolved_at is null` },
    ...empty.map((table) => ({ table, where: sql`false` })),
  ]);
}
