import { getTableName } from 'drizzle-orm';
import type { AuditEntry } from '../../audit/audit-log';
import { keyOfReference } from '../../payments/lock-payment';
import type { TablePlan } from '../decide/plan';
import type { Commit, EventEntry } from './committed';
import { TABLE_NAMES, TABLES } from './rows';

/** `payloads` are the bodies of the new events, and then those of the known ones. */
export const NAMES = ['plan', 'tables', 'payloads'] as const;

/** Never unescaped in JSON, so it can separate texts; escaped, it marks an id that the commit makes. */
const SEPARATOR = '\u0001';
const MARKED = /"\\u0001([1-9]\d*)"/g;

function toAuditRow({ actor, ...entry }: AuditEntry) {
  return { ...entry, actor_type: actor.type, actor_id: actor.id, actor_name: actor.name };
}

export function encode(all: Commit[]): Record<(typeof NAMES)[number], string> {
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

/** For PostgreSQL's `format`, which is given the new ids. */
function toTemplate(plan: string, places: number): string {
  return plan
    .replaceAll('%', '%%')
    .replace(MARKED, (text, place: string) => (Number(place) <= places ? `%${place}$s` : text));
}

/**
 * Lock keys for every Stripe customer this commit concerns, so that none can be erased at the same time; and for the
 * references under which a program may be recording the same money at this moment.
 */
export function toLockKeys({ plan: { concerned, emails, payments }, events }: Commit): string[] {
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
