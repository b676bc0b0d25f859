import { count, eq, ilike, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import { type Database, pickColumns, statement } from '@/db/database';
import {
  billedServiceBlocks,
  billedServiceDeltas,
  billingInterval,
  customerServices,
  customers,
  listSums,
  servers,
  serviceBlocks,
  serviceDeltas,
  serviceStatus,
  serviceType,
} from '@/db/schema';
import { defineList, filter, wordFilter } from '../counted-list/define-list';
import { countedList, dayOrInfinity } from '../counted-list/list-reader';
import { summarize } from '../counted-list/list-sums';
import { customerSums, sumByCustomer } from '../customers/customer-sums';
import {
  customerFilter,
  matchNumbered,
  numberFilter,
  statusesFilter,
  toSelection,
} from '../customers/match-customer';
import { fileColumns, inColumns, type RecordOf, rowColumns, toCustomerSnippet } from '../customers/queries';
import { customerIdFilter, customerSnippet, wholeId } from '../customers/schema';
import { AppError } from '../errors';
import { calendarDate, listFilters, oneOf, searchLine, someOf } from '../fields';
import { toJsonAmounts } from '../money';
import { MAX_ID, pageOf } from '../page';
import { containsPattern } from '../search-text';

export const SERVICE_STATUSES = serviceStatus.enumValues;
export const SERVICE_TYPES = serviceType.enumValues;
export const BILLING_INTERVALS = billingInterval.enumValues;

export const serviceFilters = listFilters(
  {
    customer_id: customerIdFilter,
    status: oneOf(SERVICE_STATUSES).optional(),
    statuses: someOf(SERVICE_STATUSES).optional(),
    service_type: oneOf(SERVICE_TYPES).optional(),
    domain: searchLine(253).optional().describe('Part of the domain, in any case; % and _ are literal.'),
    service_number: searchLine(100).optional().describe('The whole number.'),
    server_id: wholeId.optional(),
    next_billing_date_from: calendarDate.optional(),
    next_billing_date_to: calendarDate.optional(),
  },
  'next_billing_date',
);

/** A service that a customer rents. */
export const serviceRow = z.object({
  id: z.int(),
  service_number: z.string(),
  service_type: z.enum(SERVICE_TYPES),
  status: z.enum(SERVICE_STATUSES),
  name: z.string(),
  domain: z.string().nullable(),
  server_id: z.int().nullable(),
  price: z.number().describe('Per billing interval, without tax'),
  currency: z.string(),
  billing_interval: z.enum(BILLING_INTERVALS),
  start_date: z.string().nullable(),
  next_billing_date: z.string().nullable(),
  ends_on: z.string().nullable(),
  cancelled_at: z.string().nullable().describe('Instant, ISO 8601'),
  customer: customerSnippet,
});

export type ServiceFilters = z.infer<typeof serviceFilters>;
export type ServiceRow = z.infer<typeof serviceRow>;

const s = customerServices;

const serviceColumns = rowColumns(s, serviceRow);

function toServiceRow(record: RecordOf<typeof s, typeof serviceColumns>): ServiceRow {
  return {
    ...toJsonAmounts(record, 'price'),
    cancelled_at: record.cancelled_at?.toISOString() ?? null,
    customer: toCustomerSnippet(record.customer),
  };
}

/**
 * The next billing date as the expression that is indexed. It is `infinity`, which sorts last, for services without a
 * date.
 */
export const NEXT_BILLING = dayOrInfinity(s.next_billing_date);

const filters = {
  customer: customerFilter(s.customer_id),
  number: numberFilter({ id: s.id, number: s.service_number }),
  /** Part of a domain. Case is ignored. */
  domain: {
    schema: searchLine(253),
    means: (domain: string) => ({
      where: ilike(s.domain, containsPattern(domain)),
      few: true,
      counted: patternOf(domain),
    }),
    counted: { domain: { matches: (pattern: SQL) => sql`${s.domain} ilike ${pattern}` } },
  },
  type: wordFilter(SERVICE_TYPES, s.service_type),
  status: wordFilter(SERVICE_STATUSES, s.status),
  /** The host name of a service's server, or `#` and the server's id. */
  server: filter(searchLine(253), (text) => {
    const named = matchNumbered({ id: servers.id, number: servers.hostname }, text.toLowerCase());
    return { where: sql`${s.server_id} in (select ${servers.id} from ${servers} where ${named})`, few: true };
  }),
  /** The earliest next billing date, inclusive. */
  from: filter(calendarDate, (day) => ({ where: sql`${NEXT_BILLING} >= ${day}::date` })),
  /** The latest next billing date, inclusive. */
  to: filter(calendarDate, (day) => ({ where: sql`${NEXT_BILLING} <= ${day}::date` })),
};

const counted = countedList({
  table: s,
  blocks: serviceBlocks,
  deltas: serviceDeltas,
  order: [s.service_number],
  newestFirst: false,
  filters,
  more: { server_id: { matches: (id) => eq(s.server_id, id) }, statuses: statusesFilter(s.status) },
  otherDay: {
    name: 'next_billing_date',
    column: s.next_billing_date,
    blocks: billedServiceBlocks,
    deltas: billedServiceDeltas,
  },
  sorted: ['domain', sql`${s.service_number} || ''`],
  columns: serviceColumns,
  toRow: toServiceRow,
  page: pageOf(serviceRow),
});

/** Reads services by their ids. The order of the result is undefined. */
export const readServices = counted.rows;

const toCounted = ({ domain, service_number: number, statuses, ...given }: ServiceFilters) => ({
  ...given,
  ...patternOf(domain),
  ...toSelection({ number, statuses }),
});

/**
 * Lists customer services by service number. If they are filtered by the next billing date, sorts them by that date,
 * latest first. A page past the end is empty.
 */
export const listServices = (db: Database, given: ServiceFilters) => counted.list(db, toCounted(given));

const patternOf = (domain: string | undefined) =>
  domain === undefined ? {} : { domain: containsPattern(domain) };

/** The list of services on staff pages. */
export const serviceList = defineList({
  table: s,
  filters,
  orders: { number: sql`${s.service_number}`, 'next-billing': NEXT_BILLING },
  sort: 'number',
  rows: counted.rows,
  counted: counted.read,
  columns: fileColumns(serviceRow),
  toRecord: inColumns,
});

/** Count and total price of the services with one currency, status and billing interval. */
export const serviceSums = z.object({
  currency: z.string(),
  status: z.string(),
  billing_interval: z.string(),
  count: z.int(),
  price_total: z.number(),
});

const keptSums = {
  ...({ table: s, list: 'service', day: 'next_billing_date' } as const),
  kinds: [s.status, s.billing_interval, s.service_type],
  where: counted.where,
};

/** Counts and sums the services that match the filters, per currency, status and billing interval. */
export function summarizeServices(db: Database, given: ServiceFilters) {
  const { currency, status, billing_interval } = s;
  return summarize(db, keptSums, toCounted(given), {
    by: { currency, status, billing_interval },
    of: { price_total: listSums.total },
    schema: serviceSums,
  });
}

/**
 * Number of a customer's services in one currency. There is no sum of prices, because some are per month and others per
 * year or once.
 */
export const customerServiceCounts = customerSums({});

/** Counts the services that match the filters per customer and currency, the most services first. */
export function countServicesByCustomer(db: Database, given: ServiceFilters) {
  return sumByCustomer(db, given, {
    table: s,
    where: counted.where(toCounted(given)),
    of: {},
    largest: ['count'],
    schema: customerServiceCounts,
  });
}

/** Counts the services of a customer by status. A status without services is left out. */
export async function countServicesByStatus(
  db: Database,
  customerId: number,
): Promise<Record<string, number>> {
  const found = await countStatuses(db, { id: customerId });
  return Object.fromEntries(found.map(({ status, count }) => [status, count]));
}

const countStatuses = statement(['id'], (db, { id }) =>
  db
    .select({ status: s.status, count: count() })
    .from(s)
    .where(eq(s.customer_id, id))
    .groupBy(s.status)
    .orderBy(s.status),
);

/** Returns a service with its customer and its server. @throws AppError not_found */
export async function getService(db: Database, id: number) {
  const [found] = await db
    .select({
      ...serviceColumns,
      ...pickColumns(s, 'created_at', 'updated_at'),
      server: pickColumns(servers, 'id', 'hostname'),
    })
    .from(customerServices)
    .innerJoin(customers, eq(customers.id, customerServices.customer_id))
    .leftJoin(servers, eq(servers.id, customerServices.server_id))
    .where(eq(customerServices.id, Math.min(id, MAX_ID)));
  if (!found) throw new AppError('not_found', `There is no service ${id}.`);
  return { ...found, ...toServiceRow(found) };
}

export type ServiceDetails = Awaited<ReturnType<typeof getService>>;
