import { getTableColumns, type SQL, sql, type Table } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { readStatement } from '@/db/statement';
import type { Keys } from './keys';
import { type BillingElsewhere, keyColumn, TABLE_NAMES, TABLES } from './rows';
import type { Rows, Snapshot, StoredEvent } from './snapshot';

/** Reads all that keys lead to, in one statement, so that it was all so at one moment. */
export async function read(db: Database, keys: Keys): Promise<Snapshot> {
  const state = JSON.parse(await readState(db, toParameters(keys))) as Record<keyof Rows, Json[]> & {
    billing: { customer_service_id: number; subscription_id: number; until: string; endsAt: string | null }[];
    tombstones: string[];
    events: StoredEvent[];
  };
  return {
    keys,
    rows: toRows(state),
    billing: state.billing.map(
      ({ until, endsAt, ...one }): BillingElsewhere => ({
        ...one,
        until: new Date(until),
        endsAt: endsAt === null ? null : new Date(endsAt),
      }),
    ),
    tombstones: new Set(state.tombstones),
    events: new Map(state.events.map((event) => [event.id, event])),
  };
}

type Json = Record<string, unknown>;

function toRows(state: Record<keyof Rows, Json[]>): Rows {
  const maps = TABLE_NAMES.map((name) => [name, toMap(TABLES[name], state[name], keyColumn(name))]);
  return Object.fromEntries(maps) as Rows;
}

/** Rows as drizzle reads them, by what identifies them. */
function toMap(table: Table, found: Json[], key: string): Map<unknown, Json> {
  const { dates, amounts } = decodedOf(table);
  return new Map(
    found.map((row) => {
      for (const name of dates) if (row[name] != null) row[name] = new Date(row[name] as string);
      for (const name of amounts) if (row[name] != null) row[name] = (row[name] as number).toFixed(3);
      return [row[key], row];
    }),
  );
}

const decoded = new Map<Table, { dates: string[]; amounts: string[] }>();

/** The columns that JSON has no values for. */
function decodedOf(table: Table) {
  const known = decoded.get(table);
  if (known) return known;
  const columns = Object.entries(getTableColumns(table));
  const names = (isOne: (column: (typeof columns)[number][1]) => boolean) =>
    columns.filter(([, column]) => isOne(column)).map(([name]) => name);
  const made = {
    dates: names(({ dataType }) => dataType === 'date'),
    amounts: names(({ columnType }) => columnType.startsWith('PgNumeric')),
  };
  decoded.set(table, made);
  return made;
}

const many = (from: SQL, order: SQL) =>
  sql`(select coalesce(json_agg(row_to_json(x) order by ${order}), '[]') from ${from} x)`;

const NAMES = [
  'events',
  'stripeCustomers',
  'whole',
  'checkouts',
  'linked',
  'numbers',
  'emails',
  'subscriptions',
  'subscriptionIds',
  'items',
  'serviceIds',
  'serviceNumbers',
  'invoices',
  'payments',
  'seconds',
  'objects',
  'reported',
] as const;

function toParameters(keys: Keys): Record<(typeof NAMES)[number], string> {
  const [seconds, objects] = [0, 1].map((part) => keys.seconds.map((key) => key.split(' ')[part] ?? ''));
  const all: Record<string, (string | number)[]> = {
    ...keys,
    seconds: seconds ?? [],
    objects: objects ?? [],
  };
  const texts = NAMES.map((name) => [name, toArrayText(all[name] ?? [])]);
  return Object.fromEntries(texts) as Record<(typeof NAMES)[number], string>;
}

const readState = readStatement(NAMES, (keys) => {
  // In a select, or PostgreSQL would plan anew at every call: the fewer keys, the cheaper it thinks it is.
  const texts = (values: SQL) => sql`(select ${values}::text[])::text[]`;
  const numbers = (values: SQL) => sql`(select ${values}::int[])::int[]`;
  return sql`with
    its as (select id, subscription_id from subscription_items where stripe_subscription_item_id = any(${texts(keys.items)})),
    sub_ids as (
      select id from subscriptions where stripe_subscription_id = any(${texts(keys.subscriptions)})
      union select id from subscriptions where id = any(${numbers(keys.subscriptionIds)})
      union select id from subscriptions where stripe_customer_id = any(${texts(keys.whole)})
      union select subscription_id from its),
    subs as materialized (select s.* from subscriptions s join sub_ids using (id)),
    items as materialized (select i.* from subscription_items i join sub_ids s on s.id = i.subscription_id),
    svc_ids as (
      select customer_service_id as id from items where customer_service_id is not null
      union select id from customer_services where id = any(${numbers(keys.serviceIds)})
      union select id from customer_services where service_number = any(${texts(keys.serviceNumbers)})),
    svc as materialized (select v.id, v.customer_id, v.service_number, v.status, v.price, v.currency,
      v.billing_interval, v.next_billing_date, v.synced_billing_date, v.ends_on, v.version
      from customer_services v join svc_ids using (id)),
    inv as materialized (select * from invoices where stripe_invoice_id = any(${texts(keys.invoices)})),
    link_ids as (
      select unnest((${texts(keys.stripeCustomers)})) as id
      union select stripe_customer_id from stripe_customers where customer_id = any(${numbers(keys.linked)})
      union select stripe_customer_id from subs where stripe_customer_id is not null
      union select stripe_customer_id from inv where stripe_customer_id is not null),
    links as materialized (select l.* from stripe_customers l join link_ids k on k.id = l.stripe_customer_id),
    cus_ids as (
      select customer_id as id from links
      union select id from customers where lower(customer_number) = any(${texts(keys.numbers)})
      union select id from customers where lower(email) = any(${texts(keys.emails)})
      union select id from customers where id = any(${numbers(keys.linked)})),
    ev as (
      select id, outcome, attempts, '' as payload, true as "isStorable" from stripe_events where id = any(${texts(keys.events)})
      union all select id, outcome, attempts, payload, failure_reason is null from stripe_events
        where object_id = any(${texts(keys.objects)}) and stripe_created = any((select ${keys.seconds}::timestamptz[])::timestamptz[])
      union all select id, outcome, attempts, payload, failure_reason is null from stripe_events
        where object_id = any(${texts(keys.reported)}) and type like 'customer.subscription.%' and outcome in ('processed', 'stale')
      union all select id, outcome, attempts, payload, failure_reason is null from stripe_events
        where stripe_customer_id = any(${texts(keys.checkouts)}) and type = 'checkout.session.completed')
    select json_build_object(
      'links', ${many(sql`links`, sql`x.stripe_customer_id`)},
      'customers', ${many(
        sql`(select c.id, c.customer_number, c.email, c.last_name, c.phone, c.street, c.postal_code, c.city,
          c.country, c.version from customers c join cus_ids using (id))`,
        sql`x.id`,
      )},
      'services', ${many(sql`svc`, sql`x.id`)},
      'subscriptions', ${many(sql`subs`, sql`x.id`)},
      'items', ${many(sql`items`, sql`x.id`)},
      'invoices', ${many(sql`inv`, sql`x.id`)},
      'payments', ${many(
        sql`(select * from payments where payment_reference = any(${texts(keys.payments)}))`,
        sql`x.id`,
      )},
      'tombstones', (select coalesce(json_agg(reference), '[]') from payment_tombstones
        where reference = any(${texts(keys.payments)})),
      'billing', ${many(
        sql`(select i.customer_service_id, i.subscription_id, i.current_period_end as until, s.cancel_at as "endsAt"
          from svc_ids v join subscription_items i on i.customer_service_id = v.id
          join subscriptions s on s.id = i.subscription_id
          where s.status <> 'cancelled' and i.current_period_end is not null
            and s.id not in (select id from sub_ids)
            and not exists (select from stripe_customers l where l.stripe_customer_id = s.stripe_customer_id
              and l.linked_by not in ('staff', 'number')))`,
        sql`x.subscription_id, x.until`,
      )},
      'events', ${many(sql`ev`, sql`x.payload`)}
    )::text`;
});

/** As PostgreSQL reads an array. */
function toArrayText(values: (string | number)[]): string {
  return `{${values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`).join()}}`;
}
