import { sql } from 'drizzle-orm';
import {
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
} from 'drizzle-orm/pg-core';
import { id, instant, timestamps } from './columns';

export const eventOutcome = pgEnum('event_outcome', ['processed', 'stale', 'ignored', 'unmatched', 'failed']);
export const runStatus = pgEnum('run_status', ['running', 'completed', 'completed_with_errors', 'failed']);
export const runTrigger = pgEnum('run_trigger', ['cron', 'schedule', 'staff', 'cli']);
export const runPhase = pgEnum('run_phase', [
  'inbox',
  'subscriptions',
  'invoices',
  'rechecks',
  'payments',
  'money_back',
  'overdue',
  'done',
]);
export const changeOutcome = pgEnum('change_outcome', ['fixed', 'reported', 'failed']);

/** One field of one row that sync changed, or that it found different and only reported. */
export type FieldChange = Pick<
  typeof reconciliationChanges.$inferSelect,
  'entity' | 'entity_id' | 'stripe_id' | 'field' | 'before' | 'after' | 'outcome'
>;

/** The data needed to apply a completed checkout again after the body of its event was removed. */
export interface KeptCheckout {
  id: string;
  stripe_subscription_id: string | null;
  reference: number | null;
  paid: boolean;
}

/** The inbox. It has a row, with the signed body, for each event that Stripe delivered with a valid signature. */
export const stripeEvents = pgTable(
  'stripe_events',
  {
    /** Stripe's event id. */
    id: text().primaryKey(),
    type: text().notNull(),
    api_version: text(),
    livemode: boolean().notNull(),
    /** Stripe's creation time of the event, in whole seconds. */
    stripe_created: instant().notNull(),
    object_id: text(),
    stripe_customer_id: text(),
    /** Signed body as text, because jsonb rejects \u0000 and reorders keys. Old bodies and erased data are removed. */
    payload: text().notNull(),
    /** Fields of a completed checkout, stored when the body is removed. Null until then, and for other events. */
    checkout: jsonb().$type<KeptCheckout>(),
    outcome: eventOutcome().notNull(),
    attempts: integer().notNull().default(1),
    error_code: text(),
    /** Reason why the event can never be applied. Null if a retry may succeed. */
    failure_reason: text(),
    warnings: jsonb().$type<string[]>().notNull().default([]),
    changes: jsonb().$type<FieldChange[]>().notNull().default([]),
    processed_at: instant(),
    ...timestamps,
  },
  (t) => [
    index('stripe_events_created').on(t.stripe_created, t.id),
    // Almost all events are `processed`. The index on the time finds processed events fast enough.
    index('stripe_events_outcome')
      .on(t.outcome, t.stripe_created, t.id)
      .where(sql`${t.outcome} <> 'processed'`),
    index('stripe_events_type').on(t.type, t.stripe_created),
    index('stripe_events_object').on(t.object_id, t.stripe_created),
    index('stripe_events_customer').on(t.stripe_customer_id, t.stripe_created),
    index('stripe_events_retry').on(t.id).where(sql`${t.outcome} in ('failed', 'unmatched')`),
    index('stripe_events_with_body').on(t.stripe_created).where(sql`${t.payload} <> ''`),
    index('stripe_events_other_mode')
      .on(t.created_at)
      .where(sql`${t.outcome} = 'ignored' and ${t.warnings} <> '[]'`),
  ],
);

/** One row that counts the deliveries whose signature or timestamp was refused since the last accepted delivery. */
export const webhookRefusals = pgTable(
  'webhook_refusals',
  {
    id: integer().primaryKey().default(1),
    count: integer().notNull(),
    /** Times when the first and the last of these deliveries were recorded. A process writes at most once a minute. */
    since: instant().notNull(),
    last_at: instant().notNull(),
  },
  (t) => [check('webhook_refusals_one_row', sql`${t.id} = 1`)],
);

/**
 * The problems that the service reports to people, one row per cause. If a cause occurs again, it uses the same row.
 * Causes that can make the database unusable are stored in a file instead.
 */
export const alerts = pgTable('alerts', {
  /** Code of the problem, such as `reconciliation_failed`. */
  cause: text().primaryKey(),
  message: text().notNull(),
  started_at: instant().notNull(),
  /** End of the problem. Null while the problem lasts. */
  ended_at: instant(),
  /** Channels that have not yet received the alert's current state: its start or its end. */
  pending: jsonb().$type<string[]>().notNull().default([]),
  /** Number of failed deliveries of the current state. */
  attempts: integer().notNull().default(0),
  /** Reason why the last delivery failed. Null if it succeeded. */
  failure: text(),
  /** Time of the next delivery. While a process is delivering, the end of its lease. */
  next_attempt_at: instant(),
  delivered_at: instant(),
  ...timestamps,
});

export const reconciliationRuns = pgTable(
  'reconciliation_runs',
  {
    id: id(),
    trigger: runTrigger().notNull(),
    started_by: text(),
    status: runStatus().notNull().default('running'),
    /**
     * Checkpoint: the current phase, and in `cursor` the name of the current step, a line break and the cursor of its
     * next page.
     */
    phase: runPhase().notNull().default('inbox'),
    cursor: text(),
    started_at: instant().notNull(),
    /** Heartbeat of the lease. If it is older than the lease's length, the run is dead and may be taken over. */
    heartbeat_at: instant().notNull(),
    finished_at: instant(),
    /** The run lists at least all objects created at Stripe after this time, in any status. Null for all of history. */
    window_from: instant(),
    /**
     * True after all of Stripe's lists except those of payouts were read. The window of the next run then starts three
     * days before this run.
     */
    lists_completed: boolean().notNull().default(false),
    /** APP_TIMEZONE at the start of the run. Null for a run of an older version. */
    time_zone: text(),
    /**
     * True if STRIPE_SECRET_KEY was not set during the run or a part of it. Without the key, the run only checks our
     * own data.
     */
    stripe_skipped: boolean().notNull().default(false),
    objects_checked: integer().notNull().default(0),
    changes_count: integer().notNull().default(0),
    failures_count: integer().notNull().default(0),
    /** Code of the error that made the run fail. After the error, the run only takes steps that do not need Stripe. */
    error_code: text(),
    /** Error code if Stripe denied access to a list. The run still reads other lists, and ends as failed. */
    denied_code: text(),
    ...timestamps,
  },
  (t) => [
    index('reconciliation_runs_started').on(t.started_at, t.id),

    // The database, not the scheduler, guarantees that only one run is active.
    uniqueIndex('reconciliation_runs_one_running').on(t.status).where(sql`${t.status} = 'running'`),
  ],
);

const runId = () =>
  integer()
    .notNull()
    .references(() => reconciliationRuns.id, { onDelete: 'cascade' });

type ChangedEntity =
  | 'customer'
  | 'customer_service'
  | 'subscription'
  | 'subscription_item'
  | 'invoice'
  | 'payment'
  | 'refund'
  | 'dispute'
  | 'account';

export const reconciliationChanges = pgTable(
  'reconciliation_changes',
  {
    id: id(),
    run_id: runId(),
    entity: text().$type<ChangedEntity>().notNull(),
    entity_id: integer(),
    stripe_id: text(),
    field: text().notNull(),
    before: text(),
    after: text(),
    outcome: changeOutcome().notNull(),
    ...timestamps,
  },
  (t) => [
    index('reconciliation_changes_run').on(t.run_id, t.id),
    index('reconciliation_changes_entity').on(t.entity, t.entity_id),
  ],
);

/** Objects that a run could not synchronize. The next run retries them by id. */
export const reconciliationFailures = pgTable(
  'reconciliation_failures',
  {
    id: id(),
    run_id: runId(),
    object: text()
      .$type<'subscription' | 'invoice' | 'refund' | 'dispute' | 'customer' | 'event' | 'payout'>()
      .notNull(),
    stripe_id: text().notNull(),
    error_code: text().notNull(),
    resolved_at: instant(),
    ...timestamps,
  },
  (t) => [
    uniqueIndex('reconciliation_failures_object').on(t.run_id, t.object, t.stripe_id),
    index('reconciliation_failures_open').on(t.object, t.stripe_id).where(sql`${t.resolved_at} is null`),
  ],
);

/** Ids that a run has read from Stripe's lists. Stored in a table, because memory may not hold all of them. */
export const reconciliationSeen = pgTable(
  'reconciliation_seen',
  {
    run_id: runId(),
    stripe_id: text().notNull(),
  },
  (t) => [primaryKey({ columns: [t.run_id, t.stripe_id] })],
);
