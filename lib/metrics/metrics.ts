import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { sql } from 'drizzle-orm';
import { answerWithin, type Database, pgErrorCode, rows } from '@/db/database';
import { perProcess } from '@/db/per-process';
import { isServer, writersOf } from '@/db/transaction';
import type { Logger } from '../log';
import { HANDLED_EVENTS, HANDLED_OUTCOMES, type HandledDelivery } from '../sync/inbox/handle-event';
import { repairedFields } from '../sync/reconcile/run';
import { nameBuiltRoute, OTHER } from './route-names';

interface Metrics {
  /** Starts the timer of a request. Returns a function that counts the request with the status of its response. */
  startRequest(url: string, method: string): (status: number) => void;
  countAlert(delivery: { channel: string; outcome: 'delivered' | 'failed' }): void;
  contentType: string;
  /** Returns all metrics as Prometheus text. */
  print(): Promise<string>;
  /** Sets the gauges of the queues and of the database. Null if the database does not answer. */
  setDatabase(measured: Measured | null): void;
  /** Stops counting Stripe's events. */
  close(): void;
}

/** A queue of our server, such as the queue of pages that wait to be rendered. */
interface Queue {
  readonly counts: { running: number; waiting: number };
}

/** Largest value of the metric of repaired fields, so that a scrape never counts all changes of a long run. */
const MAX_REPAIRED = 10_000;

const held = perProcess('metrics', () => ({
  opening: undefined as Promise<Metrics> | undefined,
  /** The metrics of this process. Undefined while requests are not counted. */
  opened: undefined as Metrics | undefined,
  queues: new Map<string, Queue>(),
}));

/** Starts counting in this process. Later calls return the same metrics. */
export function openMetrics(nameRoute = nameBuiltRoute()): Promise<Metrics> {
  held.opening ??= createMetrics(nameRoute).then((metrics) => {
    held.opened = metrics;
    return metrics;
  });
  return held.opening;
}

/** Stops counting, and forgets all counts. Only for tests, in which one process runs many servers. */
export function closeMetrics(): void {
  held.opened?.close();
  held.opening = undefined;
  held.opened = undefined;
}

/** Registers a queue, which is measured at each scrape. */
export function watchQueue(name: string, queue: Queue): void {
  held.queues.set(name, queue);
}

/**
 * Counts a request when its response ends. Does nothing while no metrics are open.
 *
 * @param isCounted function that returns whether to count the request; it is called when the response has ended
 */
export function timeRequest(
  request: IncomingMessage,
  response: ServerResponse,
  isCounted: (request: IncomingMessage) => boolean,
): void {
  const { opened } = held;
  if (!opened) return;
  const { url = '', method = '' } = request; // Read these now, because handlers rewrite the URL.
  const count = opened.startRequest(url, method);
  response.once('close', () => {
    if (!isCounted(request)) return;
    // 499 is nginx's code for a client that left before the response.
    count(response.headersSent ? response.statusCode : 499);
  });
}

/** Counts one attempt to deliver an alert. Does nothing while no metrics are open. */
export function countAlert(channel: string, outcome: 'delivered' | 'failed'): void {
  held.opened?.countAlert({ channel, outcome });
}

const DATABASE_MS = 3000;

/**
 * Returns all metrics as Prometheus text. If the database cannot be read in time, `w5t_database_up` is 0, and the other
 * metrics of the database are missing.
 */
export async function printMetrics({
  db,
  log,
  now,
}: {
  db: Database | null;
  log: Logger;
  now(): Date;
}): Promise<{ text: string; contentType: string }> {
  const metrics = await openMetrics();
  metrics.setDatabase(db && (await measureInTime(db, log, now())));
  return { text: await metrics.print(), contentType: metrics.contentType };
}

async function measureInTime(db: Database, log: Logger, now: Date): Promise<Measured | null> {
  try {
    return (await answerWithin(DATABASE_MS, measureDatabase(db, now))) ?? null;
  } catch (error) {
    log.warn({ code: pgErrorCode(error) }, 'the metrics of the database could not be read');
    return null;
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const REQUEST_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
/**
 * Buckets of the processing delay in seconds, up to a day. Stripe retries a delivery for days, and the daily
 * reconciliation retries failed events.
 */
const LAG_SECONDS = [1, 2, 5, 10, 30, 60, 300, 3600, 21_600, 86_400];
/** Metrics of prom-client whose names break Prometheus's naming rules: a gauge must not end in `_total`. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

/** Creates the metrics. Loads prom-client here, because most processes do not need it. */
async function createMetrics(nameRoute: (path: string) => string): Promise<Metrics> {
  const { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } = (await import('prom-client'))
    .default;
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register });
  for (const name of MISNAMED) register.removeSingleMetric(name);
  const gauge = <Label extends string>(name: string, help: string, labelNames: Label[] = []) =>
    new Gauge({ name, help, labelNames, registers });
  const requests = new Counter({
    name: 'w5t_http_requests_total',
    help: 'Requests by route, method and status. 499: the client left before the response.',
    labelNames: ['route', 'method', 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'w5t_http_request_duration_seconds',
    help: 'Time from a request’s headers to the end of its response.',
    labelNames: ['route'],
    buckets: REQUEST_SECONDS,
    registers,
  });
  const events = new Counter({
    name: 'w5t_stripe_events_total',
    help: 'Deliveries, replays and nightly retries of Stripe’s events by outcome.',
    labelNames: ['outcome'],
    registers,
  });
  // `increase` in an alert rule does not count the first sample of a series, so each outcome starts with 0.
  for (const outcome of HANDLED_OUTCOMES) events.inc({ outcome }, 0);
  const lags = new Histogram({
    name: 'w5t_stripe_event_lag_seconds',
    help: 'Time from an event’s creation at Stripe until it was applied.',
    buckets: LAG_SECONDS,
    registers,
  });
  const alerts = new Counter({
    name: 'w5t_alert_deliveries_total',
    help: 'Attempts to deliver an alert by channel and outcome.',
    labelNames: ['channel', 'outcome'],
    registers,
  });
  const queues = gauge('w5t_queue_requests', 'Requests in a queue of this process.', ['queue', 'state']);
  const up = gauge('w5t_database_up', '1 if the database answered this scrape.');
  const connections = gauge('w5t_database_connections', 'Connections of all processes of the service.', [
    'state',
  ]);
  const backlog = gauge('w5t_inbox_events', 'Events of the inbox that are not applied yet.', ['outcome']);
  const single = {
    size: gauge('w5t_database_size_bytes', 'Size of the database.'),
    age: gauge('w5t_reconciliation_age_seconds', 'Time since the latest reconciliation started.'),
    running: gauge('w5t_reconciliation_running', '1 while a reconciliation runs.'),
    ok: gauge('w5t_reconciliation_ok', '1 if the last reconciliation completed without errors.'),
    seconds: gauge('w5t_reconciliation_duration_seconds', 'Duration of the last reconciliation.'),
    changes: gauge(
      'w5t_reconciliation_changes',
      `Fields that the last reconciliation repaired, without our overdue invoices. At most ${MAX_REPAIRED}.`,
    ),
    failures: gauge('w5t_reconciliation_failures', 'Objects that the last reconciliation could not check.'),
  };

  const setQueue = (queue: string, { running, waiting }: Queue['counts']) => {
    queues.set({ queue, state: 'running' }, running);
    queues.set({ queue, state: 'waiting' }, waiting);
  };

  const countEvent = (message: unknown) => {
    const { outcome, lagMs } = message as HandledDelivery;
    events.inc({ outcome });
    if (outcome === 'processed') lags.observe(Math.max(0, lagMs / 1000));
  };
  subscribe(HANDLED_EVENTS, countEvent);

  return {
    startRequest(url, method) {
      const observe = durations.startTimer();
      return (status) => {
        const [path = ''] = url.split('?', 1);
        const route = nameRoute(path);
        requests.inc({ route, method: METHODS.includes(method) ? method : OTHER, status });
        observe({ route });
      };
    },
    countAlert: (delivery) => alerts.inc(delivery),
    contentType: register.contentType,
    print: () => register.metrics(),
    close: () => void unsubscribe(HANDLED_EVENTS, countEvent),
    setDatabase(measured) {
      // Remove the old series, because values of an earlier scrape would look current.
      for (const one of Object.values(single)) one.remove();
      for (const one of [connections, backlog, queues]) one.reset();
      for (const [name, { counts }] of held.queues) setQueue(name, counts);
      up.set(measured ? 1 : 0);
      if (!measured) return;
      single.size.set(measured.sizeBytes);
      for (const [state, count] of measured.connections) connections.set({ state }, count);
      if (measured.writers) setQueue('writes', measured.writers);
      backlog.set({ outcome: 'failed' }, measured.failedEvents);
      backlog.set({ outcome: 'unmatched' }, measured.unmatchedEvents);
      single.running.set(measured.isRunning ? 1 : 0);
      if (measured.runAge !== null) single.age.set(measured.runAge);
      if (!measured.ended) return;
      single.ok.set(measured.ended.ok ? 1 : 0);
      single.seconds.set(measured.ended.seconds);
      single.changes.set(measured.ended.changes);
      single.failures.set(measured.ended.failures);
    },
  };
}

/** The values of the gauges about the database, read at each scrape. */
interface Measured {
  sizeBytes: number;
  /**
   * Number of connections of all our processes by state, such as `active` and `idle`. Empty for the embedded database.
   */
  connections: [state: string, count: number][];
  /** Numbers of running and waiting writes of this process. Null for the embedded database. */
  writers: { running: number; waiting: number } | null;
  failedEvents: number;
  unmatchedEvents: number;
  /** Seconds since the latest reconciliation run started. Null before the first run. */
  runAge: number | null;
  isRunning: boolean;
  /** The latest reconciliation run that has ended. Null before the first run has ended. */
  ended: { seconds: number; changes: number; failures: number; ok: boolean } | null;
}

type MeasuredRow = {
  size: number;
  failed: number;
  unmatched: number;
  age: number | null;
  running: boolean;
  seconds: number | null;
  changes: number;
  failures: number | null;
  ok: boolean | null;
};

/** Reads the values of all gauges with one query, and the connections of a server with a second one. */
async function measureDatabase(db: Database, now: Date): Promise<Measured> {
  const [found] = await rows<MeasuredRow>(
    db,
    sql`
      select pg_database_size(current_database())::float8 as size,
        (select count(*) from stripe_events where outcome = 'failed')::int as failed,
        (select count(*) from stripe_events where outcome = 'unmatched')::int as unmatched,
        (select extract(epoch from ${now.toISOString()}::timestamptz - started_at)::float8
          from reconciliation_runs order by id desc limit 1) as age,
        exists (select from reconciliation_runs where status = 'running') as running,
        ended.seconds, ${repairedFields(sql`ended`, MAX_REPAIRED)} as changes, ended.failures, ended.ok
      from (select) as one
      left join lateral (
        select extract(epoch from finished_at - started_at)::float8 as seconds, id, window_from,
          failures_count as failures, status = 'completed' as ok
        from reconciliation_runs where status <> 'running' order by id desc limit 1
      ) as ended on true`,
  );
  if (!found) throw new Error('a query without from answers one row');
  const { seconds, changes, failures, ok } = found;
  return {
    sizeBytes: found.size,
    connections: isServer(db) ? await countConnections(db) : [],
    writers: writersOf(db),
    failedEvents: found.failed,
    unmatchedEvents: found.unmatched,
    runAge: found.age,
    isRunning: found.running,
    ended: ok === null ? null : { seconds: seconds ?? 0, changes, failures: failures ?? 0, ok },
  };
}

async function countConnections(db: Database): Promise<[string, number][]> {
  const found = await rows<{ state: string; count: number }>(
    db,
    sql`select coalesce(state, 'unknown') as state, count(*)::int as count from pg_stat_activity
      where datname = current_database() and application_name = 'w5t' group by 1 order by 1`,
  );
  return found.map(({ state, count }) => [state, count]);
}
