import { eq, isNull } from 'drizzle-orm';
import { describe, expect, test } from 'vitest';
import type { Database } from '@/db/database';
import { reconciliationChanges, reconciliationFailures } from '@/db/schema';
import { seededChance } from '@/lib/chance';
import type { Logger } from '@/lib/log';
import { TABLES as SYNCED } from '@/lib/store/snapshot';
import { toProviderEvent } from '@/lib/stripe/event';
import type { WorldEvent } from '@/lib/stripe-local/model';
import { createWorld } from '@/lib/stripe-local/world';
import { HANDLED_EVENT_TYPES } from '@/lib/sync/event-types';
import { type EventOutcome, handleEvent } from '@/lib/sync/inbox/handle-event';
import { reconcile } from '@/lib/sync/reconcile/reconcile';
import type { SyncDeps } from '@/lib/sync/sync-deps';
import { clear, databaseHands, readRows } from '../simulation/database-stage';
import { takeModelEvent } from '../simulation/pure/inbox';
import { Model } from '../simulation/pure/model';
import { reconcileModel } from '../simulation/pure/night';
import { ModelApi } from '../simulation/pure/pure-stage';
import type { TableName } from '../simulation/pure/tables';
import type { Hands } from '../simulation/stage';
import { defaultsOf, MODELLED } from '../simulation/tables';
import { readRows as readTable, useDatabase } from './database';
import { orders } from './orders';
import { DAY, type EventContent, toEvent } from './stripe-events';
import { renderEvent } from './stripe-versions';

// A rule of sync declares the rows that certain events lead to. Each rule runs on tables in memory, within a few
// milliseconds. A rule with `inSql` also runs on a database, to show that the SQL has the same effect.

type Row = Record<string, unknown>;
type Rows = Record<TableName, Row[]>;
/** Rows by table, keyed by Stripe id or our number. See `toView`. */
export type View = Record<TableName, Record<string, Row>>;

/** A row to insert. Missing columns get their defaults. */
export interface GivenRow {
  table: TableName;
  row: Row;
}

export interface Rule {
  /** Rows that exist before the events. */
  given?: GivenRow[];
  /** Events to deliver, and functions to run. The event at position n, counted from 1, gets the id `evt_n`. */
  events: (EventContent | ((scene: Scene) => unknown))[];
  /**
   * The orders in which the events are delivered, each with new tables. The default is the order of the list. The
   * database tests only the first and the last.
   */
  orders?: number[][] | 'all';
  /** Expected values of some rows. Null means that the row must not exist. */
  rows?: Partial<Record<TableName, Record<string, Row | null>>>;
  /** Expected row counts of some tables. */
  counts?: Partial<Record<TableName, number>>;
  settings?: Partial<Pick<SyncDeps, 'linkByEmail' | 'timeZone'>>;
  /** Whether deliveries may ask Stripe. */
  withKey?: boolean;
  inSql?: boolean;
}

interface Delivery {
  event: NonNullable<ReturnType<typeof toProviderEvent>>;
  payload: string;
  again: boolean;
}

/** The tables that a rule runs on, in memory or in a database. */
interface Ground {
  deps: Pick<SyncDeps, 'db' | 'store'>;
  put(table: TableName, row: Row): Promise<unknown>;
  edit(table: TableName, row: Row, values: Row): Promise<unknown>;
  take(deps: SyncDeps, delivery: Delivery): Promise<EventOutcome>;
  run(deps: SyncDeps): Promise<{ status: string }>;
  rows(): Promise<Rows>;
  /** Returns the changes of the last run, and the unresolved failures of all runs. */
  log(): Promise<{ changes: Row[]; failures: Row[] }>;
  hands(deps: SyncDeps): Hands;
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** Returns a step that expects some values of a row, by the row's name in `View`. */
export const expectRow = (table: TableName, key: string, row: object) => async (scene: Scene) =>
  expect((await scene.rows())[table][key]).toMatchObject(row);

/** Registers a test for each rule, under the name of the rule. @param common default fields of all these rules */
export function testRules(
  rules: Record<string, Rule | ((scene: Scene) => Promise<unknown>)>,
  common: Partial<Rule> = {},
): void {
  const all = Object.entries(rules).map(([name, rule]): [string, Rule] => [
    name,
    { ...common, ...(typeof rule === 'function' ? { events: [rule] } : rule) },
  ]);
  for (const [name, rule] of all) test(name, () => play(rule, ordersOf(rule), memoryGround));
  const inSql = all.filter(([, rule]) => rule.inSql);
  if (inSql.length === 0) return;
  describe('rules on a database', () => {
    const base = useDatabase();
    for (const [name, rule] of inSql) {
      const [first = [], ...others] = ordersOf(rule);
      test(`${name} (SQL)`, () => play(rule, [first, ...others.slice(-1)], () => databaseGround(base.db)));
    }
  });
}

function ordersOf({ events, orders: given }: Rule): number[][] {
  const places = events.map((_, at) => at);
  return given === 'all' ? orders(places) : (given ?? [places]);
}

type Open = (now: () => Date) => Ground | Promise<Ground>;

async function play(rule: Rule, all: number[][], open: Open): Promise<void> {
  for (const order of all) {
    const scene = await openScene(open, rule);
    for (const at of order) {
      const step = rule.events[at];
      if (typeof step === 'function') await step(scene);
      else if (step) await scene.take(step, at + 1);
    }
    const view = await scene.rows();
    const message = `in the order ${order.map((at) => at + 1)}`;
    expect(pick(view, rule.rows ?? {}), message).toMatchObject(rule.rows ?? {});
    for (const [table, count] of Object.entries(rule.counts ?? {})) {
      expect(Object.keys(view[table as TableName]), message).toHaveLength(count);
    }
  }
}

async function openScene(open: Open, { given, settings, withKey = false }: Rule) {
  let now = new Date('2026-03-15T12:00:00Z');
  const world = createWorld({ now: () => now, chance: seededChance(7) });
  const api = new ModelApi();
  api.world = world;
  const ground = await open(() => now);
  for (const { table, row } of given ?? []) await ground.put(table, row);
  const depsOf = (hasKey: boolean): SyncDeps => ({
    ...{ ...ground.deps, stripe: hasKey ? api.client([]) : null, mode: null, now: () => now, log: NO_LOG },
    ...{ eventRetentionDays: 180, documentRetentionYears: 8, toolCallRetentionDays: 90 },
    ...{ timeZone: 'UTC', linkByEmail: false, ...settings },
  });
  const deliver = (body: object, again: boolean) => {
    const event = toProviderEvent(body);
    if (!event) throw new Error('this is not an event');
    return ground.take(depsOf(scene.hasKey), { event, payload: JSON.stringify(body), again });
  };
  const scene = {
    /** The Stripe account, and the faults of its API. */
    world,
    faults: api.faults,
    /** Whether deliveries may ask Stripe. Reconciliation always may. */
    hasKey: withKey,
    now: () => now,
    later: (seconds: number) => {
      now = new Date(now.getTime() + seconds * 1000);
    },
    take: (content: EventContent, n: number, { again = false } = {}) => deliver(toEvent(content, n), again),
    /** Delivers an event of the Stripe account. */
    deliver: async (event: WorldEvent | undefined) => {
      if (!event) throw new Error('this event did not happen');
      return deliver(renderEvent(event, '2026-10-28.endive'), false);
    },
    /**
     * Delivers those events of an action that sync handles, expects each to be processed, and moves the clock forward
     * by a minute.
     */
    deliverAction: async <T extends { events: WorldEvent[] }>(done: T): Promise<T> => {
      for (const event of done.events.filter(({ type }) => HANDLED_EVENT_TYPES.includes(type))) {
        expect(await scene.deliver(event)).toBe('processed');
      }
      scene.later(60);
      return done;
    },
    /** Runs the daily reconciliation, by default a day later. */
    night: async (seconds = DAY) => {
      scene.later(seconds);
      const { status } = await ground.run(depsOf(true));
      const { changes, failures } = await ground.log();
      return {
        status,
        changes: changes.map(({ entity, field, before, after, outcome }) =>
          outcome === 'fixed' ? [entity, field, before, after] : [entity, field, before, after, outcome],
        ),
        failures: failures.map(({ object, stripe_id }) => [object, stripe_id]),
      };
    },
    /** Changes a row as staff would. */
    edit: async (table: TableName, key: string, values: Row) => {
      const row = toView(await ground.rows())[table][key];
      if (!row) throw new Error(`there is no ${key} in ${table}`);
      await ground.edit(table, row, values);
    },
    hands: () => ground.hands(depsOf(false)),
    rows: async () => toView(await ground.rows()),
  };
  return scene;
}

function memoryGround(now: () => Date): Ground {
  const model = new Model(1, now);
  const process = model.process(undefined);
  const { tables } = model;
  const put = async (table: TableName, row: Row) =>
    tables.put(table, (row.id ?? row.stripe_customer_id ?? row.reference) as never, row as never);
  return {
    deps: { db: {} as Database, store: process },
    put: (table, row) =>
      put(table, { ...defaultsOf(table), created_at: GIVEN_AT, updated_at: GIVEN_AT, ...row }),
    edit: (table, { id, ...key }, values) => {
      const row = tables.rows[table].get((id ?? key.stripe_customer_id) as never) as unknown as Row;
      if (table === 'customers') tables.edited.add(Number(id));
      return put(table, { ...row, ...values, version: Number(row.version) + 1 });
    },
    take: (deps, delivery) => takeModelEvent(process, deps, delivery),
    run: (deps) => reconcileModel(model, process, deps),
    rows: async () => {
      const all = Object.entries(tables.rows).map(([name, rows]) => [name, [...rows.values()]]);
      return Object.fromEntries(all) as Rows;
    },
    log: async () => {
      const changes = tables.runChanges.filter(({ run }) => run === model.runs.at(-1)?.id);
      const failures = model.failures.filter(({ resolved }) => !resolved);
      return {
        changes: changes.map((one) => one.change as Row),
        failures: failures.map(({ object, stripeId }) => ({ object, stripe_id: stripeId })),
      };
    },
    hands: (deps) => model.hands(process, deps),
  };
}

async function databaseGround(db: Database): Promise<Ground> {
  await clear(db);
  let lastRun = 0;
  return {
    deps: { db },
    put: (table, row) => {
      const into = db.insert(MODELLED[table]).overridingSystemValue();
      return into.values(row as never);
    },
    edit: (table, { id }, values) => {
      const isRow = eq(SYNCED[table as 'customers'].id, Number(id));
      return db.update(MODELLED[table]).set(values).where(isRow);
    },
    take: (deps, { event, payload, again }) => handleEvent(deps, event, payload, { again }),
    run: async (deps) => {
      const result = await reconcile(deps, { trigger: 'cron', startedBy: null, isAccountKnown: true });
      lastRun = result.runId;
      return result;
    },
    rows: () => readRows(db),
    log: async () => ({
      changes: await readTable(db, reconciliationChanges, eq(reconciliationChanges.run_id, lastRun)),
      failures: await readTable(db, reconciliationFailures, isNull(reconciliationFailures.resolved_at)),
    }),
    hands: databaseHands,
  };
}

const silent = () => {};
const NO_LOG = { info: silent, warn: silent, error: silent } as unknown as Logger;

/** Ids of given rows are above this number, so that they differ from the ids that sync creates. */
const GIVEN = 1_000_000;
const GIVEN_AT = new Date('2026-03-01T00:00:00Z');
let drawn = GIVEN;

const givenRow = (table: TableName, row: Row): GivenRow => {
  drawn += 1;
  return { table, row: { id: drawn, version: 0, ...row } };
};

/** Builds a customer. `C-1` has the e-mail address c-1@example.com. */
export const customer = (customer_number: string): GivenRow => {
  const email = `${customer_number.toLowerCase()}@example.com`;
  return givenRow('customers', { customer_number, email, last_name: 'Tester' });
};

/** Builds an active service of a customer at 9.90 EUR a month. */
export const service = (service_number: string, { row: { id } }: GivenRow): GivenRow =>
  givenRow('services', {
    ...{ customer_id: id, service_number, service_type: 'hosting', status: 'active', name: 'Webhosting M' },
    ...{ price: '9.900', currency: 'eur', billing_interval: 'month' },
  });

/** Builds a subscription that was sold to a customer and waits for its checkout, with an item for a service. */
export function sold(to: GivenRow, of: GivenRow): GivenRow[] {
  const subscription = givenRow('subscriptions', { customer_id: to.row.id, status: 'incomplete' });
  const ofSold = { subscription_id: subscription.row.id, customer_service_id: of.row.id };
  return [subscription, givenRow('items', ofSold)];
}

/**
 * Keys rows by the names that rules use: Stripe's id, or our number. A sold subscription that has no Stripe id yet is
 * named `sold C-1` after its customer, and its item gets the same name. Customers that sync created are named `new 1`,
 * `new 2` …. For each reference by id, the row also gets a column with a name: `customer`, `service`, `subscription`,
 * or `of` for an invoice or a payment.
 */
function toView(rows: Rows): View {
  const byId = (table: TableName) => rows[table].toSorted((a, b) => Number(a.id) - Number(b.id));
  const namesOf = (table: TableName, nameOf: (row: Row) => unknown) =>
    new Map(byId(table).map((row) => [row.id, String(nameOf(row))]));
  let made = 0;
  const customers = namesOf('customers', ({ id, customer_number }) =>
    Number(id) > GIVEN ? customer_number : `new ${++made}`,
  );
  const soldTo = (row: Row | undefined) => `sold ${customers.get(row?.customer_id)}`;
  const names: Partial<Record<TableName, Map<unknown, string>>> = {
    customers,
    services: namesOf('services', (row) => row.service_number),
    subscriptions: namesOf('subscriptions', (row) => row.stripe_subscription_id ?? soldTo(row)),
    items: namesOf('items', ({ stripe_subscription_item_id, subscription_id }) => {
      return (
        stripe_subscription_item_id ?? soldTo(rows.subscriptions.find(({ id }) => id === subscription_id))
      );
    }),
    invoices: namesOf('invoices', (row) => row.stripe_invoice_id ?? row.number),
    payments: namesOf('payments', (row) => row.payment_reference),
    refunds: namesOf('refunds', (row) => row.stripe_refund_id ?? row.id),
    disputes: namesOf('disputes', (row) => row.stripe_dispute_id),
    events: namesOf('events', (row) => row.id),
    tasks: namesOf('tasks', (row) => `${row.kind} ${row.subject}`),
  };
  const named = (table: TableName, row: Row): Row => ({
    ...row,
    ...('customer_id' in row && { customer: customers.get(row.customer_id) ?? null }),
    ...('subscription_id' in row && { subscription: names.subscriptions?.get(row.subscription_id) ?? null }),
    ...('customer_service_id' in row && { service: names.services?.get(row.customer_service_id) ?? null }),
    ...('invoice_id' in row && { of: names.invoices?.get(row.invoice_id) ?? null }),
    ...('payment_id' in row && { of: names.payments?.get(row.payment_id) ?? null }),
    ...(table === 'subscriptions' && { isSold: Number(row.id) > GIVEN }),
  });
  const nameOf = (table: TableName, row: Row) =>
    names[table]?.get(row.id) ?? row.stripe_customer_id ?? row.reference ?? row.id;
  const tables = (Object.keys(rows) as TableName[]).map((table) => {
    const view = byId(table).map((row) => [nameOf(table, row), named(table, row)]);
    return [table, Object.fromEntries(view)];
  });
  return Object.fromEntries(tables) as View;
}

/** Returns the rows that a rule names. */
function pick(view: View, wanted: NonNullable<Rule['rows']>): object {
  const tables = Object.entries(wanted).map(([table, rows]) => {
    const found = Object.keys(rows).map((key) => [key, view[table as TableName][key] ?? null]);
    return [table, Object.fromEntries(found)];
  });
  return Object.fromEntries(tables);
}
