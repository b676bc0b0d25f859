import { and, desc, eq, inArray, ne, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, isDatabaseUnavailable, pgErrorCode, pickColumns, rows } from '@/db/database';
import {
  customers,
  eventOutcome,
  invoices,
  payments,
  stripeCustomers,
  stripeEvents,
  subscriptions,
} from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { type Actor, auditNumber, recordAudit } from '../../audit/audit-log';
import { addCount, BATCH, type CursorList, pagesToCsv } from '../../counted-list/sorted-page';
import { snippetColumns, toCustomerSnippet } from '../../customers/queries';
import { fromEpoch, toEpoch } from '../../dates';
import { AppError } from '../../errors';
import { dateRange, isInOrder, oneOf, searchLine, WRONG_ORDER } from '../../fields';
import { stackOf } from '../../log';
import { constant, literal, type PageStart, readCursorPage } from '../../page-query';
import { HANDLED_EVENT_TYPES, THIN_WARNING } from '../event-types';
import type { SyncDeps } from '../sync-deps';
import { type EventOutcome, replayEvent } from './handle-event';

const e = stripeEvents;

const rowColumns = pickColumns(e, 'id', 'type', 'object_id', 'stripe_created', 'outcome', 'error_code');

export type EventRow = Pick<typeof e.$inferSelect, keyof typeof rowColumns>;
export type StoredEvent = typeof e.$inferSelect;

export async function listEvents(
  db: Database,
  filters: EventFilters,
  { limit: size, timeZone, ...given }: PageStart & { limit: number; timeZone: string },
): Promise<CursorList<EventRow>> {
  const start = { after: cursorOr(given.after), before: cursorOr(given.before) };
  return readLimited(db, async (tx) => {
    const where = conditions(filters, timeZone, filters.type === OTHER_TYPES ? await otherTypes(tx) : []);
    const page = await readCursorPage(
      start,
      size,
      (cursor, backwards, limit) =>
        tx
          .select(rowColumns)
          .from(e)
          .where(and(where, cursor === null ? undefined : beyond(cursor, backwards)))
          .orderBy(...(backwards ? [e.stripe_created, e.id] : newestFirst))
          .limit(limit),
      ({ stripe_created, id }) => `${toEpoch(stripe_created)}.${id}`,
    );
    return addCount(tx, { table: e, where }, start, page);
  });
}

/** Returns a stored event. @throws AppError not_found */
export async function getEvent(db: Database, id: string): Promise<StoredEvent> {
  const [event] = await db.select().from(e).where(eq(e.id, id));
  if (!event) throw new AppError('not_found', `There is no event ${id} in the inbox.`);
  return event;
}

export const MAX_RELATED = 25;

export async function listEventsOf(db: Database, objectId: string, except = ''): Promise<EventRow[]> {
  return db
    .select(rowColumns)
    .from(e)
    .where(and(eq(e.object_id, objectId), ne(e.id, except)))
    .orderBy(...newestFirst)
    .limit(literal(MAX_RELATED));
}

const newestFirst = [desc(e.stripe_created), desc(e.id)];

/** Returns the unhandled types of stored events. The recursive query costs one index lookup per type. */
async function otherTypes(tx: Database): Promise<string[]> {
  const found = await rows<{ type: string }>(
    tx,
    sql`with recursive types as (
        (select type from ${e} order by type limit 1)
        union all
        select (select type from ${e} where type > known.type order by type limit 1) from types known
          where known.type is not null
      )
      select type from types where type is not null`,
  );
  return found.map(({ type }) => type).filter((type) => !HANDLED_EVENT_TYPES.some((known) => known === type));
}

function conditions(
  { type, outcome, id, from, to }: EventFilters,
  timeZone: string,
  others: string[],
): SQL | undefined {
  const startOf = (date: string, days: number) =>
    sql`((${date}::date + ${days}::int)::timestamp at time zone ${timeZone})`;
  return and(
    type === undefined
      ? undefined
      : type === OTHER_TYPES
        ? inArray(e.type, others)
        : sql`${e.type} = ${constant(type)}`,
    outcome && hasOutcome(outcome),
    id ? names(id) : undefined,
    from ? sql`${e.stripe_created} >= ${startOf(from, 0)}` : undefined,
    to ? sql`${e.stripe_created} < ${startOf(to, 1)}` : undefined,
  );
}

function hasOutcome(outcome: NonNullable<EventFilters['outcome']>): SQL {
  const isExplained = sql`${e.outcome} = 'ignored' and ${e.warnings} <> '[]'`;
  if (outcome === OTHER_MODE) return sql`${isExplained} and not ${isThin}`;
  if (outcome === THIN) return sql`${isExplained} and ${isThin}`;
  return sql`${e.outcome} = ${constant(outcome)}`;
}

function names(id: string): SQL {
  if (id.startsWith('evt_')) return eq(e.id, id);
  return eq(id.startsWith('cus_') ? e.stripe_customer_id : e.object_id, id);
}

const CURSOR = /^(\d{1,11})\.([!-~]{1,255})$/;

/** Returns a valid cursor unchanged. Returns undefined for any other text, so that the list shows its first page. */
const cursorOr = (text: string | undefined) => (CURSOR.test(text ?? '') ? text : undefined);

function beyond(cursor: string, backwards: boolean): SQL {
  const [, second, id] = CURSOR.exec(cursor) ?? [];
  const operator = backwards ? sql`>` : sql`<`;
  const created = sql.param(fromEpoch(Number(second)), e.stripe_created);
  return sql`(${e.stripe_created}, ${e.id}) ${operator} (${created}, ${id})`;
}

export const OTHER_TYPES = 'other';
/** Filter for events that were ignored because their mode (live or test) differs from the keys' mode. */
export const OTHER_MODE = 'other_mode';

/** Filter for events that were ignored because they are thin: they contain only the id of their object. */
const THIN = 'thin';

export const isThin = sql`warnings @> ${JSON.stringify([THIN_WARNING])}::jsonb`;

export const EVENT_TYPES = [...HANDLED_EVENT_TYPES, OTHER_TYPES];
export const EVENT_OUTCOMES = [...eventOutcome.enumValues, OTHER_MODE, THIN] as const;

export const eventFilters = z
  .object({
    type: z.enum(EVENT_TYPES, 'must be one of the types listed').optional(),
    outcome: oneOf(EVENT_OUTCOMES).optional(),
    /** Stripe's id of an event, of a customer, or of the object that an event describes. */
    id: searchLine(255).optional(),
    ...dateRange,
  })
  .refine(isInOrder, WRONG_ORDER);
export type EventFilters = z.infer<typeof eventFilters>;

export function eventsCsv(db: Database, filters: EventFilters, timeZone: string): AsyncGenerator<string> {
  return pagesToCsv(
    Object.keys(rowColumns),
    (start) => listEvents(db, filters, { ...start, limit: BATCH, timeZone }),
    (event) => ({ ...event, stripe_created: event.stripe_created.toISOString() }),
  );
}

export async function findRecordsOf(
  db: Database,
  { object_id, stripe_customer_id }: Pick<StoredEvent, 'object_id' | 'stripe_customer_id'>,
) {
  const [customer] = await db
    .select(snippetColumns)
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(eq(stripeCustomers.stripe_customer_id, stripe_customer_id ?? ''));
  const [subscription] = await db
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(eq(subscriptions.stripe_subscription_id, object_id ?? ''));
  const [invoice] = await db
    .select({ id: invoices.id, number: invoices.number, subscription_id: invoices.subscription_id })
    .from(invoices)
    .where(eq(invoices.stripe_invoice_id, object_id ?? ''));
  const [payment] = await db
    .select({ id: payments.id })
    .from(payments)
    .where(eq(payments.payment_reference, object_id ?? ''));
  return {
    customer: customer ? toCustomerSnippet(customer) : null,
    subscription_id: subscription?.id ?? invoice?.subscription_id ?? null,
    invoice: invoice ?? null,
    payment_id: payment?.id ?? null,
  };
}

type Replayable = Pick<StoredEvent, 'type' | 'outcome' | 'payload'>;

export function isReplayable({ type, outcome, payload }: Replayable): boolean {
  return payload !== '' && (outcome === 'failed' || HANDLED_EVENT_TYPES.includes(type));
}

/**
 * Replays an event for staff. Adds an audit entry even if the event fails again.
 *
 * @returns the outcome; `dropped` if the event's body is no longer stored
 * @throws AppError not_found
 */
export async function replayForStaff(
  deps: SyncDeps,
  actor: Actor,
  id: string,
): Promise<EventOutcome | 'failed' | 'dropped'> {
  const before = await auditedEvent(deps, id);
  const result = await tryReplay(deps, id);
  await recordAudit(deps.db, {
    actor,
    action: 'stripe_event.replay',
    entity: 'stripe_event',
    entity_id: auditNumber(id),
    before,
    after: {
      ...(await auditedEvent(deps, id)),
      ...((result === 'failed' || result === 'dropped') && { result }),
    },
  });
  return result;
}

async function tryReplay(deps: SyncDeps, id: string): Promise<EventOutcome | 'failed' | 'dropped'> {
  try {
    // Accept events of both modes, because the event's page promises that a replay applies the event.
    return await replayEvent({ ...deps, mode: null }, id);
  } catch (error) {
    if (isDatabaseUnavailable(error)) throw error;
    if (error instanceof AppError && error.code === 'conflict') return 'dropped';
    deps.log.error({ event: id, code: pgErrorCode(error), stack: stackOf(error) }, 'replay failed');
    return 'failed';
  }
}

async function auditedEvent({ db }: SyncDeps, id: string) {
  const { outcome, attempts, error_code, warnings, changes } = await getEvent(db, id);
  return { id, outcome, attempts, error_code, warnings, changes };
}
