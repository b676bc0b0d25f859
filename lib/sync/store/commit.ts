import { getTableName, type SQL, sql } from 'drizzle-orm';
import { type Database, pgErrorCode, statement } from '@/db/database';
import type { stripeEvents } from '@/db/schema';
import { localLimit } from '@/db/transaction';
import type { AuditEntry } from '../../audit/audit-log';
import { keyOfReference } from '../../payments/schema';
import type { Plan, TablePlan } from '../decide/plan';
import { TABLE_NAMES, TABLES } from '../snapshot';

type InboxRow = typeof stripeEvents.$inferSelect;

export interface EventEntry
  extends Pick<InboxRow, 'id' | 'type' | 'api_version' | 'livemode' | 'stripe_created' | 'object_id'>,
    Pick<InboxRow, 'stripe_customer_id' | 'payload' | 'outcome' | 'warnings' | 'changes'> {
  /** The Stripe customers that the payload mentions. Empty if the payload contains no personal data. */
  owners: string[];
  processed_at: Date;
  /** Outcome and attempts of the inbox row that the decision read. Null if there was no row. */
  before: string | null;
}

/** The calendar date of new journal entries, and its time zone. */
interface BookedOn {
  today: string;
  timeZone: string;
}

export interface Commit {
  plan: Plan;
  events: EventEntry[];
  runId: number | null;
  /** Called at the time of writing, which may be long after the decision. */
  bookedOn(): BookedOn;
}

/** Writes a whole plan or nothing. @throws a conflict if a row has changed since it was read: `isVersionConflict` */
export async function commit(db: Database, given: Commit): Promise<void> {
  await commitPlan(db, encode([given]));
}

/**
 * Writes the commits that have no Stripe customer in common. Writes none if one of them fails or must wait for a lock.
 *
 * @returns for each commit whether it was written
 */
export async function commitTogether(db: Database, all: Commit[]): Promise<boolean[]> {
  const apart = findApart(all);
  try {
    await commitPlanQuickly(db, encode(apart));
  } catch (error) {
    if (pgErrorCode(error) === undefined) throw error;
    return all.map(() => false);
  }
  return all.map((given) => apart.includes(given));
}

/** Picks independent commits: none of them writes a row that another one's decision was based on. */
function findApart(all: Commit[]): Commit[] {
  const taken = new Set<string>();
  const [runId] = all.map((given) => given.runId);
  return all.filter((given, at) => {
    // The customers that another commit creates may get one of these absent numbers.
    if (at > 0 && (given.runId !== runId || given.plan.absentNumbers.length > 0)) return false;
    const keys = toLockKeys(given);
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

/** Parameters of the statement. `payloads` contains the bodies of new events, then those of known events. */
const NAMES = ['plan', 'tables', 'payloads'] as const;

// The statement runs outside a transaction, so it must set the lock timeout itself.
const LIMIT = localLimit('lock_timeout');
const SHORT_LIMIT = sql`set_config('lock_timeout', '50', true)`;
const commitWith = (limit: SQL) =>
  statement(
    NAMES,
    (_, { plan, tables, payloads }) =>
      sql`select ${limit}, commit_plan(with_new_ids(${plan}, ${tables}), string_to_array(${payloads}, chr(1)))`,
  );
const commitPlan = commitWith(LIMIT);
const commitPlanQuickly = commitWith(SHORT_LIMIT);

/** True if another transaction wrote first, so that the decision must be made again. */
export function isVersionConflict(error: unknown): boolean {
  return CONFLICTS.includes(pgErrorCode(error) ?? '');
}

const CONFLICTS = ['40001', '40P01', '23505', '23503'];

/** JSON contains this character only escaped. Unescaped it separates texts; escaped it marks an id to be created. */
const SEPARATOR = '\u0001';
const MARKED = /"\\u0001([1-9]\d*)"/g;

function encode(all: Commit[]): Record<(typeof NAMES)[number], string> {
  const lists = new Map<string, string[]>();
  const tables: string[] = [];
  for (const given of all) {
    const places = new Map<number, number>();
    for (const name of TABLE_NAMES) {
      for (const row of given.plan[name].inserted) {
        if ('id' in row) places.set(row.id, tables.push(getTableName(TABLES[name])));
      }
    }
    const mark = (_: string, value: unknown) =>
      typeof value === 'number' && places.has(value) ? `${SEPARATOR}${places.get(value)}` : value;
    for (const [name, list] of toLists(given)) {
      const text = JSON.stringify(list, places.size > 0 ? mark : undefined);
      lists.set(name, [...(lists.get(name) ?? []), text.slice(1, -1)]);
    }
  }
  const keys = [...new Set(all.flatMap(toLockKeys))].sort();
  const parts = [...lists].map(([name, texts]) => `,"${name}":[${texts.join()}]`);
  const run = lists.has('changes') ? `,"run":${all[0]?.runId}` : '';
  const day = JSON.stringify(all[0]?.bookedOn());
  const text = `{"keys":${JSON.stringify(keys)},"day":${day}${run}${parts.join('')}}`;
  const plan = tables.length === 0 ? text : toTemplate(text, tables.length);
  const events = all.flatMap((given) => given.events);
  const payloads = [...events.filter(isNew), ...events.filter(isKnown)].map(({ payload }) => payload);
  return { plan, tables: `{${tables}}`, payloads: payloads.join(SEPARATOR) };
}

const isNew = ({ before }: EventEntry) => before === null;
const isKnown = ({ before }: EventEntry) => before !== null;
const withoutPayload = ({ payload: _, ...entry }: EventEntry) => entry;

/** Converts the plan to a template for PostgreSQL's `format`, which inserts the new ids. */
function toTemplate(plan: string, places: number): string {
  return plan
    .replaceAll('%', '%%')
    .replace(MARKED, (text, place: string) => (Number(place) <= places ? `%${place}$s` : text));
}

/**
 * Returns lock keys for every Stripe customer this commit concerns, so that none can be erased at the same time. Also
 * for the references under which a program may be recording the same money at this moment.
 */
function toLockKeys({ plan: { concerned, emails, payments }, events }: Commit): string[] {
  const told = events.flatMap(({ owners, stripe_customer_id: own }) =>
    own === null ? owners : [own, ...owners],
  );
  const money = payments.inserted.flatMap(({ stripe_payment_intent_id: intent, stripe_charge_id: charge }) =>
    [intent, charge].filter((id) => id !== null).map(keyOfReference),
  );
  return [...concerned, ...emails.map(({ email }) => `email ${email}`), ...told, ...money];
}

function toLists({ plan, events, runId }: Commit): [string, unknown[]][] {
  const { moves, handedOver, abandoned, absentNumbers, emails, touched, audits, tasks, tasksOver } = plan;
  const lists = {
    moves,
    handedOver,
    abandoned,
    absentNumbers,
    emails,
    touched,
    audits: audits.map(toAuditRow),
    tasks,
    tasksOver,
    eventsInserted: events.filter(isNew).map(withoutPayload),
    eventsUpdated: events.filter(isKnown).map(withoutPayload),
    changes: runId === null ? [] : plan.changes,
  };
  const ofTables = TABLE_NAMES.flatMap((name): [string, unknown[]][] => {
    const { inserted, updated, deleted }: TablePlan<unknown> = plan[name];
    return [
      [`${name}Inserted`, inserted],
      [`${name}Updated`, updated],
      [`${name}Deleted`, deleted],
    ];
  });
  return [...Object.entries(lists), ...ofTables].filter(([, list]) => list.length > 0);
}

function toAuditRow({ actor, ...entry }: AuditEntry) {
  return { ...entry, actor_type: actor.type, actor_id: actor.id, actor_name: actor.name };
}
