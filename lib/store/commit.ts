import { getTableName, type SQL, sql } from 'drizzle-orm';
import { type Database, pgErrorCode, readStatement } from '@/db/database';
import type { stripeEvents } from '@/db/schema';
import { localLimit } from '@/db/transaction';
import type { AuditEntry } from '../audit/audit-log';
import type { Plan, StoredPayment, TablePlan } from './snapshot';
import { TABLE_NAMES, TABLES } from './snapshot';

type InboxRow = typeof stripeEvents.$inferSelect;

export interface EventEntry
  extends Pick<InboxRow, 'id' | 'type' | 'api_version' | 'livemode' | 'stripe_created' | 'object_id'>,
    Pick<InboxRow, 'stripe_customer_id' | 'payload' | 'outcome' | 'warnings' | 'changes'> {
  /**
   * The Stripe customers that the payload mentions, and those whose payments it names. The commit conflicts if the
   * customer of one of them was erased meanwhile. Empty if one is already erased, so that the payload of this entry
   * contains no personal data.
   */
  owners: string[];
  processed_at: Date;
  /** Outcome and attempts of the inbox row that the decision read, as text. Null if there was no row. */
  before: string | null;
}

/**
 * Today's date, and the time zone in which it is today. A journal entry gets this date if the month of its invoice or
 * payment is over, or if it reverses another entry, unless that has a later date.
 */
interface BookedOn {
  today: string;
  timeZone: string;
}

export interface Commit {
  plan: Plan;
  events: EventEntry[];
  runId: number | null;
  /** Returns today's date. Called when the plan is written, which may be long after the decision. */
  bookedOn(): BookedOn;
}

/** The result of a commit. */
export interface Written {
  /** The time of the transaction, which becomes the `updated_at` of written payments. */
  at: Date;
  /** The real id of each new row, keyed by its temporary id. */
  ids: Map<number, number>;
}

/**
 * Writes a whole plan or nothing.
 *
 * @throws a conflict (`isVersionConflict`) if another write changed a row that the plan changes or is based on
 */
export async function commit(db: Database, given: Commit): Promise<Written> {
  const { parameters, toWritten } = encode([given]);
  return toWritten(await commitPlan(db, parameters))(given);
}

/**
 * In one statement, writes the commits that `findApart` selects. If one of them fails, or a lock is not free within
 * 50 ms, none is written.
 *
 * @returns the result of each commit; undefined if it was not written
 */
export async function commitTogether(db: Database, all: Commit[]): Promise<(Written | undefined)[]> {
  const apart = findApart(all);
  const { parameters, toWritten } = encode(apart);
  try {
    const writtenOf = toWritten(await commitPlanQuickly(db, parameters));
    return all.map((given) => (apart.includes(given) ? writtenOf(given) : undefined));
  } catch (error) {
    if (pgErrorCode(error) === undefined) throw error;
    return all.map(() => undefined);
  }
}

/**
 * Selects commits that share no lock key and no locked invoice. Otherwise, one commit could write a row on which the
 * decision of another is based.
 */
function findApart(all: Commit[]): Commit[] {
  const taken = new Set<string>();
  const [runId] = all.map((given) => given.runId);
  return all.filter((given, at) => {
    // The statement logs all changes for one run. If this decision found a customer number unused, an earlier commit in
    // the batch may create a customer with that number.
    if (at > 0 && (given.runId !== runId || given.plan.absentNumbers.length > 0)) return false;
    const keys = [...toLockKeys(given), ...lockedInvoices(given.plan).map((id) => `invoice ${id}`)];
    if (keys.some((key) => taken.has(key))) return false;
    for (const key of keys) taken.add(key);
    return true;
  });
}

/** Parameters of the statement. `payloads` contains the bodies of new events, then those of known events. */
const NAMES = ['plan', 'tables', 'payloads'] as const;

// The statement may run outside a transaction, so it must set the lock timeout itself.
const LIMIT = localLimit('lock_timeout');
const SHORT_LIMIT = sql`set_config('lock_timeout', '50', true)`;
const commitWith = (limit: SQL) =>
  readStatement(
    NAMES,
    ({ plan, tables, payloads }) =>
      // Set the limit in `from`, because a query evaluates `from` before its columns.
      sql`select commit_plan(with_new_ids(${plan}, ${tables}), string_to_array(${payloads}, chr(1))) from ${limit} as limited`,
  );
const commitPlan = commitWith(LIMIT);
const commitPlanQuickly = commitWith(SHORT_LIMIT);

/** Returns whether a commit failed because of a concurrent transaction, so that the decision must be repeated. */
export function isVersionConflict(error: unknown): boolean {
  return CONFLICTS.includes(pgErrorCode(error) ?? '');
}

// A concurrent insert or delete violates a unique constraint (23505) or a foreign key (23503).
const CONFLICTS = ['40001', '40P01', '23505', '23503'];

/**
 * In JSON, this character appears only in its escaped form. Unescaped, it separates payloads. Escaped, it marks the ids
 * of new rows.
 */
const SEPARATOR = '\u0001';
// The lookbehind skips a text that literally contains `\u0001`, because JSON escapes its backslash.
const MARKED = /"\\u0001([1-9]\d*)"|\\u0001(?<=(?<!\\)(?:\\\\)*\\u0001)<([1-9]\d*)>/g;

/**
 * Returns an id for use inside a text. For a new row, returns a placeholder that the commit replaces with the real id.
 */
export const idInText = (id: number): string => (id < 0 ? `${SEPARATOR}(${id})` : String(id));
const NAMED = new RegExp(`${SEPARATOR}\\((-\\d+)\\)`, 'g');

function encode(all: Commit[]) {
  const lists = new Map<string, string[]>();
  const tables: string[] = [];
  const placesOf = new Map<Commit, Map<number, number>>();
  for (const given of all) {
    const places = new Map<number, number>();
    placesOf.set(given, places);
    for (const name of TABLE_NAMES) {
      for (const row of given.plan[name].inserted) {
        if ('id' in row) places.set(row.id, tables.push(getTableName(TABLES[name])));
      }
    }
    const markText = (text: string, id: string) => {
      const place = places.get(Number(id));
      return place === undefined ? text : `${SEPARATOR}<${place}>`;
    };
    const mark = (_: string, value: unknown) => {
      if (typeof value === 'string')
        return value.includes(SEPARATOR) ? value.replace(NAMED, markText) : value;
      return typeof value === 'number' && places.has(value) ? `${SEPARATOR}${places.get(value)}` : value;
    };
    for (const [name, list] of toLists(given)) {
      const text = JSON.stringify(list, places.size > 0 ? mark : undefined);
      lists.set(name, [...(lists.get(name) ?? []), text.slice(1, -1)]);
    }
  }
  const keys = [...new Set(all.flatMap(toLockKeys))].sort();
  const parts = [...lists].map(([name, texts]) => `,"${name}":[${texts.join()}]`);
  const run = lists.has('changes') ? `,"run":${all[0]?.runId}` : '';
  const day = JSON.stringify(all[0]?.bookedOn());
  const ids = JSON.stringify(tables.map((_, at) => `${SEPARATOR}${at + 1}`));
  const text = `{"keys":${JSON.stringify(keys)},"ids":${ids},"day":${day}${run}${parts.join('')}}`;
  const plan = tables.length === 0 ? text : toTemplate(text, tables.length);
  const events = all.flatMap((given) => given.events);
  const payloads = [...events.filter(isNew), ...events.filter(isKnown)].map(({ payload }) => payload);
  const toWritten = (answer: string) => {
    const { at, ids } = JSON.parse(answer) as { at: string; ids: number[] };
    return (given: Commit): Written => ({
      at: new Date(at),
      ids: new Map([...(placesOf.get(given) ?? [])].map(([id, place]) => [id, ids[place - 1] ?? id])),
    });
  };
  return { parameters: { plan, tables: `{${tables}}`, payloads: payloads.join(SEPARATOR) }, toWritten };
}

const isNew = ({ before }: EventEntry) => before === null;
const isKnown = ({ before }: EventEntry) => before !== null;
const withoutPayload = ({ payload: _, ...entry }: EventEntry) => entry;

/** Converts the plan to a template for PostgreSQL's `format`, which inserts the new ids. */
function toTemplate(plan: string, places: number): string {
  return plan.replaceAll('%', '%%').replace(MARKED, (text, value?: string, inText?: string) => {
    const place = Number(value ?? inText);
    return place <= places ? `%${place}$s` : text;
  });
}

/**
 * Returns lock keys for every Stripe customer that this commit concerns, so that none can be erased at the same time.
 * Also returns keys for e-mail addresses that the decision looked up, and for Stripe's payment ids, because sync and an
 * API client or staff may be recording the same payment.
 */
function toLockKeys({ plan: { concerned, emails, money, reportedMoney }, events }: Commit): string[] {
  const told = events.flatMap(({ owners, stripe_customer_id: own }) =>
    own === null ? owners : [own, ...owners],
  );
  const named = [...money, ...reportedMoney].map(keyOfReference);
  return [...concerned, ...emails.map(({ email }) => `email ${email}`), ...told, ...named];
}

/**
 * Returns the ids of the invoices to lock. These are the stored invoices that the plan changes or is based on, and
 * those whose payments it inserts or updates.
 */
function lockedInvoices({ invoices, invoicesSettled, invoicesSeen, payments }: Plan): number[] {
  const rows = [...invoices.updated, ...invoicesSettled, ...invoicesSeen].map(({ id }) => id);
  const paid = [...payments.inserted, ...payments.updated].map(({ invoice_id }) => invoice_id);
  return [...rows, ...paid].filter((id) => id > 0);
}

/** Returns the lock key for a payment reference. */
export const keyOfReference = (reference: string): string => `payment ${reference}`;

function toLists({ plan, events, runId }: Commit): [string, unknown[]][] {
  const { moves, handedOver, abandoned, absentNumbers, emails, touched, audits, tasks, tasksOver } = plan;
  const lists = {
    invoicesLocked: lockedInvoices(plan),
    // A new invoice has no lines to replace.
    linesReplaced: plan.lines.map(({ invoice_id }) => invoice_id).filter((id) => id > 0),
    lines: plan.lines.flatMap(({ invoice_id, lines }) =>
      lines.map((line, i) => ({ invoice_id, position: i + 1, ...line })),
    ),
    creditNotes: plan.creditNotes,
    invoicesSettled: plan.invoicesSettled,
    invoicesSeen: plan.invoicesSeen,
    tombstones: plan.tombstones,
    money: plan.money,
    reported: plan.payments.inserted.filter(isStripes).map((row) => row.payment_reference),
    reportedMoney: plan.reportedMoney,
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

const isStripes = ({ source }: StoredPayment) => source === 'stripe';

function toAuditRow({ actor, ...entry }: AuditEntry) {
  return { ...entry, actor_type: actor.type, actor_id: actor.id, actor_name: actor.name };
}
