import { createHash } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cron } from 'croner';
import { getTableColumns } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pgErrorCode } from '@/db/database';
import { isNoSpace } from '@/db/embedded-files';
import { waitForLock } from '@/db/lock';
import { perProcess } from '@/db/per-process';
import { alerts } from '@/db/schema';
import { transact } from '@/db/transaction';
import type { Env } from '../env';
import { AppError } from '../errors';
import { checkHealth, type HealthDeps } from '../health/check-health';
import { stackOf } from '../log';
import { countAlert } from '../metrics/metrics';
import {
  type AlertState,
  alertState,
  followProblems,
  isStoredOutside,
  LEASE_MS,
  leaseAlert,
  type Problem,
  settleDelivery,
} from './alert-state';
import { type Channel, channelsOf, DeliveryError } from './channels';

/**
 * Cron schedule of the check: every 15 seconds. A database that is down is reported after the second failed check, well
 * within a minute.
 */
const EVERY = '*/15 * * * * *';
/**
 * Number of consecutive failed checks after which the database counts as down. A quick restart of the database makes
 * only one check fail.
 */
const CONFIRMATIONS = 2;

/**
 * Checks the service's health regularly, and reports problems and their end. Does nothing if no channel is configured.
 */
export function watchAlerts(deps: HealthDeps): { stop(): void } {
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
export function alertWatch(deps: HealthDeps, confirmations = CONFIRMATIONS): () => Promise<void> {
  let failedChecks = 0;
  return async () => {
    const { db, env, now } = deps;
    const channels = channelsOf(env);
    if (channels.length === 0) return;
    const health = await checkHealth(deps);
    const isDown = health.status === 'down';
    failedChecks = isDown ? failedChecks + 1 : 0;
    const names = channels.map(({ name }) => name);
    /** Starts and ends a store's alerts for the causes that `isMeant` accepts. Then delivers the store's due alerts. */
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
      // While the database is down, other problems cannot be checked. Their alerts stay open.
      const isReported = failedChecks >= confirmations;
      return report(outside, (cause) => isReported && cause === DOWN.cause, [DOWN]);
    }
    const problems = toProblems(health.alerts ?? []);
    await report(outside, isStoredOutside, problems);
    // Exclude test alerts, because no problem belongs to them. They are only delivered again here.
    await report(databaseStore(db), (cause) => !isStoredOutside(cause) && cause !== 'test', problems);
  };
}

const DOWN = { cause: 'database_down', message: 'The service cannot use its database.' };

/** Joins the messages of the same cause, such as two IP addresses from which many apps registered. */
function toProblems(alerts: { code: string; message: string }[]): Problem[] {
  const messages = new Map<string, string[]>();
  for (const { code, message } of alerts) messages.set(code, [...(messages.get(code) ?? []), message]);
  return [...messages].map(([cause, all]) => ({ cause, message: all.join(' ') }));
}

/** Logs an error instead of throwing it. An error of one store must not affect the other. The next check retries. */
async function attempt({ log }: HealthDeps, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.error({ code: pgErrorCode(error), stack: stackOf(error) }, 'alerts could not be stored');
  }
}

/** Maximum number of alerts that one check delivers from a store. */
const MOST = 20;

async function deliverAll(deps: HealthDeps, store: AlertStore, channels: Channel[]): Promise<void> {
  for (let count = 0; count < MOST; count += 1) {
    const leased = await store.change((known) => leaseAlert(known, deps.now()));
    if (!leased) return;
    await deliver(deps, store, leased, channels);
  }
}

/** Delivers an alert to all channels that have not received it. Skips channels that are no longer configured. */
async function deliver(
  { log, now }: HealthDeps,
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
 * @param by the person who asked for the test
 * @throws AppError with the reason if no channel is configured or a delivery failed
 */
export async function sendTestAlert(deps: HealthDeps, by: string): Promise<void> {
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

/** Lists the alerts of both stores: first the current ones, then the ended ones, each sorted by start, latest first. */
export async function listReported({ db, env }: Pick<HealthDeps, 'db' | 'env'>): Promise<AlertState[]> {
  const all = [...(await fileStore(env).list()), ...(await databaseStore(db).list())];
  const rank = ({ ended_at }: AlertState) => (ended_at === null ? 0 : 1);
  return all.sort((a, b) => rank(a) - rank(b) || b.started_at.getTime() - a.started_at.getTime());
}

/** Stores the state of alerts. Several processes of the service can share one store. */
interface AlertStore {
  list(): Promise<AlertState[]>;
  /**
   * Stores the alerts that `work` returns. The last run of `work` holds a lock, so that a problem that two processes
   * find is reported only once.
   */
  change<Changed extends AlertState[] | AlertState | null>(
    work: (known: AlertState[]) => Changed,
  ): Promise<Changed>;
}

/** Stores alerts in the table `alerts`. */
function databaseStore(db: Database): AlertStore {
  const read = (tx: Database) =>
    tx
      .select({ ...columns })
      .from(alerts)
      .orderBy(alerts.started_at, alerts.cause);
  return {
    list: () => read(db),
    change: async (work) => {
      const planned = work(await read(db)); // In most checks nothing has changed, so no lock is needed.
      if (toList(planned).length === 0) return planned;
      return transact(
        db,
        async (tx) => {
          const changed = work(await read(tx));
          for (const alert of toList(changed)) {
            await tx.insert(alerts).values(alert).onConflictDoUpdate({ target: alerts.cause, set: alert });
          }
          return changed;
        },
        undefined,
        'alerts',
      );
    },
  };
}

const { created_at: _created, updated_at: _updated, ...columns } = getTableColumns(alerts);

const stored = z.array(alertState);

/** Alerts that a process could not write to the file, by DATA_DIR and by cause. */
const unsaved = perProcess('unsaved-alerts', () => new Map<string, Map<string, AlertState>>());

/**
 * Stores alerts in a small file, for problems that can make the database unusable. The processes on one machine
 * share the file. It is below DATA_DIR, or in the system's temporary folder if DATA_DIR is not writable. While the disk
 * is full, each process keeps its changes in memory, so that it can report that.
 */
function fileStore(env: Pick<Env, 'dataDir' | 'databaseUrl'>): AlertStore {
  const folder = folderFor(env);
  const file = join(folder, 'alerts.json');
  const kept = unsaved.get(env.dataDir) ?? new Map<string, AlertState>();
  unsaved.set(env.dataDir, kept);
  const read = (): AlertState[] => merge(readFile(file), [...kept.values()]);
  return {
    list: async () => read(),
    change: async (work) => {
      const planned = work(read());
      if (toList(planned).length === 0) return planned;
      try {
        const unlock = await waitForLock(folder);
        try {
          const known = read();
          const changed = work(known);
          const draft = `${file}.${process.pid}.tmp`;
          writeFileSync(draft, JSON.stringify(merge(known, toList(changed))), { mode: 0o600 });
          renameSync(draft, file); // The rename is atomic, so that a crash leaves the old or the new state.
          kept.clear();
          return changed;
        } finally {
          unlock();
        }
      } catch (error) {
        if (!isNoSpace(error)) throw error;
        const changed = work(read());
        for (const alert of toList(changed)) kept.set(alert.cause, alert);
        return changed;
      }
    },
  };
}

function readFile(file: string): AlertState[] {
  try {
    return stored.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    // A missing file means that there are no alerts. A damaged file counts as missing, because repeating an alert is
    // better than losing it.
    if (error instanceof SyntaxError || error instanceof z.ZodError || isMissing(error)) return [];
    throw error;
  }
}

/** Returns the known alerts, in which the changed alerts replace those of the same cause. */
function merge(known: AlertState[], changed: AlertState[]): AlertState[] {
  const causes = new Set(changed.map(({ cause }) => cause));
  return [...known.filter(({ cause }) => !causes.has(cause)), ...changed];
}

function folderFor({ dataDir, databaseUrl }: Pick<Env, 'dataDir' | 'databaseUrl'>): string {
  const id = createHash('sha256').update(`${dataDir}\n${databaseUrl}`).digest('hex').slice(0, 12);
  const own = join(dataDir, 'alerts');
  return isWritable(own) ? own : join(tmpdir(), `w5t-alerts-${id}`);
}

function isWritable(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false; // The caller then uses the temporary folder.
  }
}

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

function toList(changed: AlertState[] | AlertState | null): AlertState[] {
  return changed === null ? [] : Array.isArray(changed) ? changed : [changed];
}
