import { and, eq, getTableColumns, inArray, ne, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Database } from '@/db/database';
import {
  billingInterval,
  customerServices,
  servers,
  serviceStatus,
  serviceType,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { recordAudit } from '../audit/audit-log';
import { findWritableCustomerIds } from '../customers/merged-customers';
import { getCustomer } from '../customers/queries';
import { toCalendarDate } from '../dates';
import { calendarDate, oneOf, textLine } from '../fields';
import {
  amount,
  amountProblem,
  currencyCode,
  optionalChoice,
  optionalText,
  toAmountColumn,
} from '../records/fields';
import { takeNumber } from '../records/number-series';
import type { RecordKind, RecordWriter, Reference, Row, Writing } from '../records/record-kind';
import { findIds } from '../records/save-records';
import type { SteppedKind } from '../records/steps';
import type { TypedKind } from '../records/typed-record';
import { getServer } from '../servers/queries';
import { toHostname } from '../servers/save-servers';

const ENDED = ['cancelled', 'terminated'];

/** The reference to a customer, by the customer's number. */
export const customerReference: Reference = {
  column: 'customer_id',
  problem: 'is not a known customer',
  find: findWritableCustomerIds,
  nameOf: async (db, id) => (await getCustomer(db, { id }))?.customer_number ?? null,
};

/** The rules for writing services. A new service without a number gets the next number of its series. */
export const serviceKind: RecordKind = {
  name: 'service',
  table: customerServices,
  key: 'service_number',
  fields: z.object({
    service_number: textLine(100).optional(),
    customer_number: textLine(100),
    hostname: optionalText(253, toHostname),
    service_type: oneOf(serviceType.enumValues),
    status: optionalChoice(serviceStatus.enumValues),
    name: textLine(200),
    domain: optionalText(253),
    price: amount,
    currency: currencyCode.optional(),
    billing_interval: optionalChoice(billingInterval.enumValues),
    start_date: calendarDate.nullable().optional(),
    next_billing_date: calendarDate.nullable().optional(),
    ends_on: calendarDate.nullable().optional(),
  }),
  references: {
    customer_number: customerReference,
    hostname: {
      column: 'server_id',
      problem: 'is not a known server',
      find: (tx, names) => findIds(tx, servers.hostname, servers.id, names.map(toHostname)),
      nameOf: async (db, id) => (await getServer(db, id)).hostname,
    },
  },
  toColumns: ({ price, ...columns }, before, { now, timeZone, importId }): Row => ({
    ...endOf(columns.status, before, { now, today: toCalendarDate(now, timeZone) }),
    ...columns,
    ...(price !== undefined && { price: toAmountColumn(price) }),
    ...withoutSyncedDates(columns, before, importId !== undefined),
  }),
  check: ({ after }) => {
    const problem = amountProblem(after.price, after.currency ?? 'eur');
    return problem ? [{ field: 'price', message: problem }] : [];
  },
  nextKey: (tx, _row, writer) => takeNumber(tx, 'service', writer),
  afterwards: async (tx, written, writer) => {
    await unlinkItems(tx, written, writer);
    await recheckSubscriptions(tx, written, writer.now);
  },
};

/**
 * Sets `cancelled_at` when a service ends. When the service resumes, clears it and an end date that is not in the
 * future, because the service would otherwise count as ended. A new service gets no value.
 */
function endOf(status: unknown, before: Row | null, { now, today }: { now: Date; today: string }): Row {
  if (status === undefined || before === null) return {};
  const wasEnded = ENDED.includes(String(before.status));
  const isEnded = ENDED.includes(String(status));
  if (wasEnded === isEnded) return {};
  if (isEnded) return { cancelled_at: now };
  const isOver = before.ends_on != null && String(before.ends_on) <= today;
  return { cancelled_at: null, ...(isOver && { ends_on: null }) };
}

/**
 * Clears the dates that sync wrote when a service moves to another customer, whose subscriptions did not set them.
 * Keeps a date that an imported file states. A form sends all dates, including those that staff did not change.
 */
function withoutSyncedDates(columns: Row, before: Row | null, isImport: boolean): Row {
  if (!isMoved(columns, before)) return {};
  const dates = [
    ['next_billing_date', 'synced_billing_date'],
    ['ends_on', 'synced_ends_on'],
  ] as const;
  const written = dates.filter(([date, synced]) => {
    const stored = before?.[date] ?? null;
    return stored !== null && stored === before?.[synced] && (columns[date] ?? stored) === stored;
  });
  const isStated = (column: string) => isImport && columns[column] != null;
  const cleared = written.flat().filter((column) => !isStated(column));
  return Object.fromEntries(cleared.map((column) => [column, null]));
}

const isMoved = ({ customer_id }: Row, before: Row | null) =>
  before !== null && customer_id !== undefined && customer_id !== before.customer_id;

/**
 * Ends the links of subscription items to a service that moved to another customer, because one customer's subscription
 * would otherwise set the dates of another's service. Sync does the same when a Stripe customer moves.
 */
async function unlinkItems(
  tx: Database,
  written: (Writing & { id: number })[],
  { actor }: RecordWriter,
): Promise<void> {
  const moved = written.filter(({ after, before }) => isMoved(after, before)).map(({ id }) => id);
  if (moved.length === 0) return;
  const items = await tx
    .select(getTableColumns(subscriptionItems))
    .from(subscriptionItems)
    .innerJoin(customerServices, eq(customerServices.id, subscriptionItems.customer_service_id))
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .where(
      and(inArray(customerServices.id, moved), ne(subscriptions.customer_id, customerServices.customer_id)),
    )
    .orderBy(subscriptionItems.id)
    .for('update', { of: subscriptionItems });
  const unlinked = { customer_service_id: null, linked_by_staff: false };
  const numberOf = (service: number | null) =>
    written.find(({ id }) => id === service)?.before?.service_number ?? null;
  for (const item of items) {
    await tx.update(subscriptionItems).set(unlinked).where(eq(subscriptionItems.id, item.id));
    const audit = {
      action: 'subscription_item.move',
      entity: 'subscription_item',
      entity_id: item.id,
    } as const;
    const before = { ...item, service: numberOf(item.customer_service_id) };
    await recordAudit(tx, { actor, ...audit, before, after: { ...item, ...unlinked, service: null } });
  }
}

/**
 * Schedules a recheck of the subscriptions that name a new service, or a service with a new number or customer. Sync
 * may have read the subscriptions when the services could not be found yet.
 */
async function recheckSubscriptions(
  tx: Database,
  written: (Writing & { id: number })[],
  now: Date,
): Promise<void> {
  const names = written
    .filter(({ changes }) => changes.service_number !== undefined || changes.customer_id !== undefined)
    .map(({ id, after }) => ({ id: String(id), number: after.service_number }));
  if (names.length === 0) return;
  await tx.execute(sql`update subscriptions s set recheck_at = ${now.toISOString()}::timestamptz
    where s.recheck_at is null and s.stripe_subscription_id is not null and exists (
      select from subscription_items i, jsonb_to_recordset(${JSON.stringify(names)}::jsonb) n (id text, number text)
      where i.subscription_id = s.id and not i.linked_by_staff
        and (i.named_service_number = n.number or i.named_service_id = n.id))`);
}

/** The form fields of a service. The status is not among them, because staff change it by `serviceSteps`. */
export const typedService = {
  kind: serviceKind,
  fields: {
    service_number: 'text',
    customer_number: 'text',
    service_type: 'text',
    name: 'text',
    domain: 'text',
    hostname: 'text',
    price: 'amount',
    currency: 'currency',
    billing_interval: 'text',
    start_date: 'text',
    next_billing_date: 'text',
    ends_on: 'text',
  },
} satisfies TypedKind;

/** The form fields of a new service. They include the initial status. Later, staff change it by `serviceSteps`. */
export const typedNewService = {
  kind: serviceKind,
  fields: { ...typedService.fields, status: 'text' },
} satisfies TypedKind;

/** The steps by which staff change a service's status. A cancelled service can be resumed; a terminated one cannot. */
export const serviceSteps = {
  kind: serviceKind,
  steps: {
    activate: { from: ['draft', 'order'], to: 'active' },
    suspend: { from: ['active'], to: 'suspended' },
    resume: { from: ['suspended', 'cancelled'], to: 'active' },
    cancel: { from: ['draft', 'order', 'active', 'suspended'], to: 'cancelled' },
    terminate: { from: ['active', 'suspended', 'cancelled'], to: 'terminated' },
  },
} satisfies SteppedKind;
