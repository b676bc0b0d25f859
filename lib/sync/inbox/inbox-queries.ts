import { and, desc, eq, inArray, ne, type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { stripeEvents } from '@/db/schema';
import { readLimited } from '@/db/transaction';
import { addCount, type SortedPage } from '../../counted-list/sorted-page';
import { constant, type PageStart, readCursorPage } from '../../cursor-page';
import { fromEpoch, toEpoch } from '../../dates';
import { AppError } from '../../errors';
import { literal } from '../../page-query';
import { type EventFilters, isThin, OTHER_MODE, OTHER_TYPES, THIN } from './event-filters';
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

export async function listEvents(
  db: Database,
  filters: EventFilters,
  { limit: size, timeZone, ...given }: PageStart & { limit: number; timeZone: string },
): Promise<SortedPage<EventRow>> {
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

/** @throws AppError not_found */
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

/** The types that change nothing here, of which there are few: each is one look into the index. */
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
    id === undefined ? undefined : names(id),
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

/** An invalid cursor returns the first page. */
const cursorOr = (text: string | undefined) => (CURSOR.test(text ?? '') ? text : undefined);

function beyond(cursor: string, backwards: boolean): SQL {
  const [, second, id] = CURSOR.exec(cursor) ?? [];
  const operator = backwards ? sql`>` : sql`<`;
  const created = sql.param(fromEpoch(Number(second)), e.stripe_created);
  return sql`(${e.stripe_created}, ${e.id}) ${operator} (${created}, ${id})`;
}
