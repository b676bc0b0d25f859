import { Cron } from 'croner';
import { type Database, pgErrorCode } from '@/db/database';
import type { Env } from '../env';
import { AppError } from '../errors';
import { checkHealth } from '../health/check-health';
import { type Logger, stackOf } from '../log';
import { countAlert } from '../metrics/metrics';
import {
  type AlertState,
  followProblems,
  LEASE_MS,
  leaseAlert,
  type Problem,
  settleDelivery,
} from './alert-state';
import { type AlertStore, databaseStore, fileStore } from './alert-stores';
import { isStoredOutside } from './causes';
import { type Channel, channelsOf, DeliveryError } from './channels';

export interface AlertDeps {
  db: Database;
  env: Env;
  log: Logger;
  now(): Date;
}

/** Every 15 seconds, so that the second failed check reports a database that is down well within a minute. */
const EVERY = '*/15 * * * * *';
/** Number of consecutive failed checks after which the database counts as down. A database restart fails only one. */
const CONFIRMATIONS = 2;

/**
 * Checks the service's health regularly, and reports problems and their end. Does nothing if no channel is configured.
 */
export function watchAlerts(deps: AlertDeps): { stop(): void } {
  if (channelsOf(deps.env).length === 0) return { stop() {} };
  const check = alertWatch(deps);
  const timer = new Cron(EVERY, { unref: true, protect: true }, check);
  return { stop: () => timer.stop() };
}

/**
 * Returns a function that checks the health once, and delivers the alerts that are due. It never throws.
 *
 * @param confirmations number of consecutive failed checks after which the database is reported as down
 */
export function alertWatch(deps: AlertDeps, confirmations = CONFIRMATIONS): () => Promise<void> {
  let failedChecks = 0;
  return async () => {
    const { db, env, now } = deps;
    const channels = channelsOf(env);
    if (channels.length === 0) return;
    const health = await checkHealth(deps);
    const isDown = health.status === 'down';
    failedChecks = isDown ? failedChecks + 1 : 0;
    const names = channels.map(({ name }) => name);
    /** Starts and ends the alerts whose cause fulfils `isMeant`, and delivers the alerts of the store. */
    const report = async (store: AlertStore, isMeant: (cause: string) => boolean, found: Problem[]) => {
      const problems = found.filter(({ cause }) => isMeant(cause));
      await attempt(deps, () =>
        store.change((known) =>
          followProblems(
            known.filter(({ cause }) => isMeant(cause)),
            problems,
            names,
            now(),
          ),
        ),
      );
      await attempt(deps, () => deliverAll(deps, store, channels));
    };
    const outside = fileStore(env);
    if (isDown) {
      // Other problems cannot be checked while the database is down, so their alerts do not end.
      const isReported = failedChecks >= confirmations;
      return report(outside, (cause) => isReported && cause === DOWN.cause, [DOWN]);
    }
    const problems = toProblems(health.alerts ?? []);
    await report(outside, isStoredOutside, problems);
    // Exclude test alerts. They have no problem, so this check would end them immediately.
    await report(databaseStore(db), (cause) => !isStoredOutside(cause) && cause !== 'test', problems);
  };
}

const DOWN = { cause: 'database_down', message: 'The service cannot use its database.' };

/** Joins the messages of the same cause, such as two addresses from which many apps registered. */
function toProblems(alerts: { code: string; message: string }[]): Problem[] {
  const messages = new Map<string, string[]>();
  for (const { code, message } of alerts) messages.set(code, [...(messages.get(code) ?? []), message]);
  return [...messages].map(([cause, all]) => ({ cause, message: all.join(' ') }));
}

/** Logs an error instead of throwing it, so that the other store is still used, and the next check retries. */
async function attempt({ log }: AlertDeps, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error({ code: pgErrorCode(error), stack: stackOf(error) }, 'alerts could not be stored');
  }
}

/** Maximum number of alerts that one check delivers from a store. */
const MOST = 20;

async function deliverAll(deps: AlertDeps, store: AlertStore, channels: Channel[]): Promise<void> {
  for (let count = 0; count < MOST; count += 1) {
    const leased = await store.change((known) => leaseAlert(known, deps.now()));
    if (!leased) return;
    await deliver(deps, store, leased, channels);
  }
}

/** Delivers an alert to all channels that have not received it. Skips channels that are no longer configured. */
async function deliver(
  { log, now }: AlertDeps,
  store: AlertStore,
  alert: AlertState,
  channels: Channel[],
): Promise<Map<string, string>> {
  const failures = new Map<string, string>();
  for (const channel of channels) {
    if (!alert.pending.includes(channel.name)) continue;
    try {
      await channel.send(alert, now());
      countAlert(channel.name, 'delivered');
    } catch (error) {
      if (!(error instanceof DeliveryError))
        log.error({ stack: stackOf(error) }, 'an alert could not be sent');
      failures.set(
        channel.name,
        error instanceof DeliveryError ? error.message : 'internal error, see the log',
      );
      countAlert(channel.name, 'failed');
    }
  }
  if (failures.size > 0) {
    log.error({ cause: alert.cause, failures: Object.fromEntries(failures) }, 'an alert was not delivered');
  }
  await store.change((known) => settleDelivery(known, alert, failures, now()));
  return failures;
}

/**
 * Sends a test alert to all channels immediately.
 *
 * @param by the person who asked for it
 * @throws AppError with the reason if no channel is configured or a delivery failed
 */
export async function sendTestAlert(deps: AlertDeps, by: string): Promise<void> {
  const channels = channelsOf(deps.env);
  if (channels.length === 0) throw new AppError('conflict', 'Set ALERT_WEBHOOK_URL or SMTP_URL first.');
  const store = databaseStore(deps.db);
  const now = deps.now();
  const alert: AlertState = {
    ...{ cause: 'test', message: `${by} sent a test alert.`, started_at: now, ended_at: now },
    pending: channels.map(({ name }) => name),
    ...{
      attempts: 0,
      failure: null,
      next_attempt_at: new Date(now.getTime() + LEASE_MS),
      delivered_at: null,
    },
  };
  await store.change(() => alert);
  const failures = await deliver(deps, store, alert, channels);
  if (failures.size === 0) return;
  const reasons = [...failures].map(([channel, reason]) => `${channel}: ${reason}`);
  throw new AppError('unavailable', `The test alert was not delivered. ${reasons.join('; ')}.`);
}

/** An alert as the staff page shows it. */
export type ReportedAlert = AlertState;

/** Lists the alerts of both stores, current ones first, then the latest. */
export async function listReported({ db, env }: Pick<AlertDeps, 'db' | 'env'>): Promise<ReportedAlert[]> {
  const all = [...(await fileStore(env).list()), ...(await databaseStore(db).list())];
  const rank = ({ ended_at }: AlertState) => (ended_at === null ? 0 : 1);
  return all.sort((a, b) => rank(a) - rank(b) || b.started_at.getTime() - a.started_at.getTime());
}
