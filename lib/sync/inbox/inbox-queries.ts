import { and, desc, eq, ne, notInArray, type SQL, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import { type CursorPage, constant, type PageStart, readCursorPage } from '../../cursor-page';
import { fromEpoch, toEpoch } from '../../dates';
import { AppError } from '../../errors';
import { literal } from '../../page-query';
import { type EventFilters, OTHER_MODE, OTHER_TYPES } from './event-filters';
import { HANDLED_EVENT_TYPES } from './event-types';

const e = stripeEvents;

const rowColumns = {
  id: e.id,
  type: e.type,
  object_id: e.object_id,
  stripe_created: e.stripe_created,
  outcome: e.outcome,
  error_code: e.error_code,
};

export type EventRow = Pick<typeof e.$inferSelect, keyof typeof rowColumns>;
export type StoredEvent = typeof e.$inferSelect;

/** One page of the inbox, the latest event first. */
export async function listEvents(
  db: Database,
  filters: EventFilters,
  page: PageStart & { limit: number; timeZone: string },
): Promise<CursorPage<EventRow>> {
  const where = conditions(filters, page.timeZone);
  return readCursorPage(
    page,
    page.limit,
    (cursor, backwards, limit) =>
      db
        .select(rowColumns)
        .from(e)
        .where(and(where, cursor === null ? undefined : beyond(cursor, backwards)))
        .orderBy(...(backwards ? [e.stripe_created, e.id] : newestFirst))
        .limit(limit),
    ({ stripe_created, id }) => `${toEpoch(stripe_created)}.${id}`,
  );
}

/** An event with its payload. @throws AppError not_found */
export async function getEvent(db: Database, id: string): Promise<StoredEvent> {
  const [event] = await db.select().from(e).where(eq(e.id, id));
  if (!event) throw new AppError('not_found', `There is no event ${id} in the inbox.`);
  return event;
}

export const MAX_RELATED = 25;

/** The latest 25 events of one object of Stripe's. */
export async function listEventsOf(db: Database, objectId: string, except = ''): Promise<EventRow[]> {
  return db
    .select(rowColumns)
    .from(e)
    .where(and(eq(e.object_id, objectId), ne(e.id, except)))
    .orderBy(...newestFirst)
    .limit(literal(MAX_RELATED));
}

const newestFirst = [desc(e.stripe_created), desc(e.id)];

function conditions({ type, outcome, id, from, to }: EventFilters, timeZone: string): SQL | undefined {
  const startOf = (date: string, days: number) =>
    sql`((${date}::date + ${days}::int)::timestamp at time zone ${timeZone})`;
  return and(
    type === undefined
      ? undefined
      : type === OTHER_TYPES
        ? notInArray(e.type, HANDLED_EVENT_TYPES)
        : sql`${e.type} = ${constant(type)}`,
    outcome && hasOutcome(outcome),
    id === undefined ? undefined : names(id),
    from ? sql`${e.stripe_created} >= ${startOf(from, 0)}` : undefined,
    to ? sql`${e.stripe_created} < ${startOf(to, 1)}` : undefined,
  );
}

function hasOutcome(outcome: NonNullable<EventFilters['outcome']>): SQL {
  if (outcome === OTHER_MODE) return sql`${e.outcome} = 'ignored' and ${e.warnings} <> '[]'`;
  return sql`${e.outcome} = ${constant(outcome)}`;
}

function names(id: string): SQL {
  if (id.startsWith('evt_')) return eq(e.id, id);
  return eq(id.startsWith('cus_') ? e.stripe_customer_id : e.object_id, id);
}

/** A cursor that is none stands before everything, so that the page is the first. */
function beyond(cursor: string, backwards: boolean): SQL | undefined {
  const [, second, id] = /^(\d{1,11})\.([!-~]{1,255})$/.exec(cursor) ?? [];
  if (second === undefined) return undefined;
  const operator = backwards ? sql`>` : sql`<`;
  const created = sql.param(fromEpoch(Number(second)), e.stripe_created);
  return sql`(${e.stripe_created}, ${e.id}) ${operator} (${created}, ${id})`;
}
