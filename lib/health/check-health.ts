import { sql } from 'drizzle-orm';
import { z } from 'zod';
import { bytesFree, hasWriteRoom } from '@/db/embedded-files';
import { answerWithin, type Database, pgErrorCode, rows } from '../../db/database';
import { forgetNoRoom, isDiskFull } from '../../db/failed-statements';
import type { runStatus } from '../../db/schema';
import manifest from '../../package.json';
import type { Env } from '../env';
import type { Logger } from '../log';
import { MAX_REGISTRATIONS, maxRegistrations } from '../oauth/register-client';
import { PING } from '../sync/event-types';
import { isThin } from '../sync/inbox/events';
import { heardBetween, repairedFields } from '../sync/reconcile/run';
import { manyRefusals, refusalText } from './webhook-refusals';

/** A current problem that staff should know of. */
const alert = z.object({
  code: z.enum([
    'reconciliation_overdue',
    'reconciliation_silent',
    'reconciliation_failed',
    'reconciliation_drift',
    'inbox_failures',
    'inbox_other_mode',
    'inbox_thin',
    'webhook_refuses',
    'time_zone_differs',
    'registrations_refused',
    'counts_wrong',
    'database_read_only',
    'disk_full',
    'disk_low',
  ]),
  message: z.string(),
  run_id: z.int().optional(),
});
export type Alert = z.infer<typeof alert>;

/** Schema of the health response. Callers without CRON_SECRET get no `alerts`, which contain counts and causes. */
export const health = z.object({
  status: z.enum(['ok', 'degraded', 'down']),
  version: z.string(),
  database: z.enum(['ok', 'unreachable', 'not_migrated']).meta({
    description:
      'not_migrated: the database is older than the service; run npm run db:migrate, which updates it or says what to do.',
  }),
  checks: z.object({
    reconciliation: z.enum(['ok', 'none', 'overdue', 'silent', 'failed', 'drift', 'unknown']).meta({
      description:
        'none: no run yet; overdue: the daily run is late; silent: the current run has stopped; drift: the last run repaired many fields.',
    }),
    inbox: z
      .enum(['ok', 'failures', 'unknown'])
      .meta({ description: 'failures: some events were received but not processed.' }),
    webhook: z.enum(['ok', 'refuses', 'unknown']).meta({
      description:
        'refuses: many deliveries had no valid signature, and no delivery has been accepted since.',
    }),
    disk: z.enum(['ok', 'low', 'full', 'unknown']).meta({
      description:
        'full: writes fail because the disk is full; low: the disk of the embedded database has little free space.',
    }),
  }),
  alerts: z.array(alert).optional().meta({ description: 'Only present if the caller sends CRON_SECRET.' }),
});
export type Health = z.infer<typeof health>;

export interface HealthDeps {
  db: Database;
  env: Env;
  log: Logger;
  now(): Date;
}

/** Checks the service's health. Never throws. A database that fails or needs more than `timeout` ms counts as down. */
export async function checkHealth(deps: HealthDeps, timeout = 3000): Promise<Health> {
  try {
    return (await answerWithin(timeout, readHealth(deps))) ?? healthOfOutage();
  } catch (error) {
    deps.log.error({ code: pgErrorCode(error) }, 'health check failed');
    return healthOfOutage();
  }
}

/** Returns the health of a service that cannot work, usually because its database is not available. */
export function healthOfOutage(database: Health['database'] = 'unreachable'): Health {
  return {
    status: 'down',
    version: manifest.version,
    database,
    checks: { reconciliation: 'unknown', inbox: 'unknown', webhook: 'unknown', disk: 'unknown' },
  };
}

async function readHealth({ db, env, now }: HealthDeps): Promise<Health> {
  const { alerts, everRun } = await listAlerts(db, now(), env);
  const codes = new Set(alerts.map(({ code }) => code));
  return {
    status: alerts.some(({ code }) => !OF_SETTINGS.includes(code)) ? 'degraded' : 'ok',
    version: manifest.version,
    database: 'ok',
    checks: {
      reconciliation: everRun ? reconciliationOf(codes) : 'none',
      inbox: OF_INBOX.some((code) => codes.has(code)) ? 'failures' : 'ok',
      webhook: codes.has('webhook_refuses') ? 'refuses' : 'ok',
      disk: codes.has('disk_full') ? 'full' : codes.has('disk_low') ? 'low' : 'ok',
    },
    alerts,
  };
}

/** Alerts about our settings. Staff see them, but they do not make the status `degraded`. */
const OF_SETTINGS: Alert['code'][] = ['time_zone_differs', 'registrations_refused'];

const OF_INBOX = ['inbox_failures', 'inbox_other_mode', 'inbox_thin'] as const;

function reconciliationOf(codes: Set<Alert['code']>): Health['checks']['reconciliation'] {
  if (codes.has('reconciliation_overdue')) return 'overdue';
  if (codes.has('reconciliation_silent')) return 'silent';
  if (codes.has('reconciliation_failed')) return 'failed';
  return codes.has('reconciliation_drift') ? 'drift' : 'ok';
}

/**
 * The number of days for which an alert reports a thin event (one without the object's data) or an event from the wrong
 * Stripe mode.
 */
const IGNORED_DAYS = 7;

type AlertFacts = {
  /** Whether the latest reconciliation run started too long ago. Null before the first run. */
  overdue: boolean | null;
  /** Id of the running reconciliation if its heartbeat has stopped. Otherwise null. */
  silent_run: number | null;
  run_id: number | null;
  status: (typeof runStatus.enumValues)[number] | null;
  /** Number of fields that the latest ended run repaired, at most one more than the alert setting allows. */
  changes: number;
  failed_events: number;
  other_mode_events: number;
  thin_events: number;
  refused: number | null;
  account_zone: string | null;
  wrong_lists: string | null;
  read_only: boolean;
  /** IP addresses from which many apps registered in the last hour, each with the number of apps. */
  registrations: [string, number][];
};

/**
 * Lists the current problems. Disk problems come first.
 *
 * @returns the problems, and whether a reconciliation run has ever started
 */
export async function listAlerts(
  db: Database,
  now: Date,
  env: Pick<Env, 'alerts' | 'databaseUrl' | 'dataDir' | 'stripe' | 'timeZone'>,
): Promise<{ alerts: Alert[]; everRun: boolean }> {
  const limits = env.alerts;
  const at = sql`${now.toISOString()}::timestamptz`;
  const [first, last] = heardBetween(now).map((time) => time.toISOString());
  const [found] = await rows<AlertFacts>(
    db,
    sql`
      select
        (select started_at < ${at} - make_interval(hours => ${24 + limits.overdueHours}::int)
          from reconciliation_runs order by id desc limit 1) as overdue,
        (select id from reconciliation_runs where status = 'running'
          and heartbeat_at not between ${first}::timestamptz and ${last}::timestamptz) as silent_run,
        last.id as run_id, last.status, ${repairedFields(sql`last`, limits.driftChanges + 1)} as changes,
        (select count(*) from stripe_events where outcome = 'failed')::int as failed_events,
        ignored.other_mode_events, ignored.thin_events,
        ${manyRefusals} as refused,
        (select after from reconciliation_changes where run_id = last.id and entity = 'account'
          and field = 'time_zone' and before = ${env.timeZone}::text limit 1) as account_zone,
        (select string_agg(rtrim(replace(list, '_', ' '), 's') || 's', ', ' order by list) from wrong_counts) as wrong_lists,
        ${env.databaseUrl !== null}::boolean and current_setting('transaction_read_only') = 'on' as read_only,
        coalesce((select json_agg(json_build_array(registered_from, clients)) from (
          select registered_from, count(*)::int as clients from oauth_clients
          where created_at > ${at} - interval '1 hour' and registered_from is not null
          group by registered_from having count(*) >= ${MAX_REGISTRATIONS}::int
        ) as busy), '[]') as registrations
      from (
        select (count(*) filter (where not ${isThin}))::int as other_mode_events,
          (count(*) filter (where ${isThin} and type <> ${PING}))::int as thin_events
        from stripe_events where outcome = 'ignored' and warnings <> '[]'
          and created_at > ${at} - make_interval(days => ${IGNORED_DAYS}::int)
      ) as ignored
      left join lateral (
        select id, status, window_from from reconciliation_runs where status <> 'running'
        order by id desc limit 1
      ) as last on true`,
  );
  if (!found) throw new Error('a query without from answers one row');
  const disk = await checkDisk(db, env);
  return {
    alerts: [...diskAlerts(disk, limits), ...toAlerts(db, found, env)],
    everRun: found.overdue !== null,
  };
}

function toAlerts(
  db: Database,
  found: AlertFacts,
  env: Pick<Env, 'alerts' | 'stripe' | 'timeZone'>,
): Alert[] {
  const { run_id, silent_run, failed_events: failed, other_mode_events: others, thin_events: thin } = found;
  const { refused, account_zone, wrong_lists } = found;
  const run = run_id === null ? {} : { run_id };
  const alerts: Alert[] = [];
  const add = (code: Alert['code'], message: string, more = {}) => alerts.push({ code, message, ...more });
  if (found.status === 'failed') add('reconciliation_failed', 'The last reconciliation failed.', run);
  if (found.status === 'completed_with_errors') {
    add('reconciliation_failed', 'The last reconciliation could not check everything.', run);
  }
  if (found.overdue) {
    const hours = 24 + env.alerts.overdueHours;
    add('reconciliation_overdue', `No reconciliation has started for more than ${hours} hours.`);
  }
  if (silent_run !== null) {
    const message = `Reconciliation run ${silent_run} has stopped: its process ended before the run did.`;
    add('reconciliation_silent', message, { run_id: silent_run });
  }
  if (refused !== null) {
    const deliveries = countText(refused, 'delivery', 'deliveries');
    add('webhook_refuses', `${deliveries} to Stripe’s webhook ${refusalText(db, env)}`);
  }
  if (failed > 0) add('inbox_failures', `${countText(failed, 'Stripe event')} failed.`);
  if (others > 0) {
    const message = `${countText(others, 'event')} came from the wrong Stripe mode (test or live): the webhook’s secret and the keys do not match.`;
    add('inbox_other_mode', message);
  }
  if (thin > 0) {
    const message = `${countText(thin, 'thin event')} arrived, which cannot be applied: choose snapshot payloads for the endpoint in Stripe.`;
    add('inbox_thin', message);
  }
  if (account_zone !== null) {
    const message = `The Stripe account uses the time zone ${account_zone}, but dates here are in ${env.timeZone}, so an invoice can have another date and month than at Stripe. Set APP_TIMEZONE to the account’s time zone.`;
    add('time_zone_differs', message, run);
  }
  for (const [address, clients] of found.registrations) {
    if (clients < maxRegistrations(address)) continue;
    const message = `${countText(clients, 'app')} registered from ${address} within an hour, so more of them are refused. If this is the address of a proxy, add it to TRUSTED_PROXIES.`;
    add('registrations_refused', message);
  }
  if (found.read_only) add('database_read_only', 'The database is read-only: nothing can be saved.');
  if (wrong_lists !== null) {
    add('counts_wrong', `These totals are wrong: ${wrong_lists}. Run npm run db:recount.`);
  }
  if (found.changes > env.alerts.driftChanges) {
    const fields = countText(env.alerts.driftChanges, 'field');
    const message = `The last reconciliation repaired more than ${fields}: webhooks may not be arriving.`;
    add('reconciliation_drift', message, run);
  }
  return alerts;
}

function diskAlerts(disk: Disk, { diskMb }: Env['alerts']): Alert[] {
  if (disk === 'ok') return [];
  const message =
    disk === 'full'
      ? 'The disk of the database is full: nothing can be saved until space is freed.'
      : `The disk of DATA_DIR has less than ${diskMb} MB left.`;
  return [{ code: `disk_${disk}`, message }];
}

function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/**
 * Free disk space. `full` means that writes fail. `low` means that the embedded database's disk has less free space
 * than the alert setting requires.
 */
type Disk = 'ok' | 'low' | 'full';

async function checkDisk(
  db: Database,
  { databaseUrl, dataDir, alerts }: Pick<Env, 'databaseUrl' | 'dataDir' | 'alerts'>,
): Promise<Disk> {
  const isMeasured = !databaseUrl; // The disk of a database server cannot be measured from here.
  if (isMeasured && !hasWriteRoom(dataDir)) return 'full';
  if (isDiskFull() && !(await hasRoomToWrite(db))) return 'full';
  const left = isMeasured ? bytesFree(dataDir) : null;
  return left !== null && left < alerts.diskMb * 1_000_000 ? 'low' : 'ok';
}

/**
 * Tests for free disk space by writing a megabyte. Without this test the alert could stay for weeks, until the
 * application next writes to the table whose write failed.
 */
async function hasRoomToWrite(db: Database): Promise<boolean> {
  try {
    await db.transaction((tx) =>
      tx.execute(
        sql`create temporary table room_found on commit drop as select * from generate_series(1, 30000)`,
      ),
    );
  } catch (error) {
    if (pgErrorCode(error) === undefined) throw error;
    return false;
  }
  forgetNoRoom();
  return true;
}
