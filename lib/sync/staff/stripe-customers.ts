import { and, asc, count, desc, eq, getTableColumns, inArray, ne, type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import {
  customerNameSql,
  customerServices,
  customers,
  invoices,
  payments,
  stripeCustomers,
  subscriptionItems,
  subscriptions,
} from '@/db/schema';
import { validId } from '../../counted-list/sorted-page';
import { toCsv } from '../../csv';
import { snippetColumns, toCustomerSnippet } from '../../customers/queries';
import type { LinkedBy } from '../../customers/sure-link';
import { AppError } from '../../errors';
import { literal, type PageStart, readCursorPage } from '../../page-query';

/** Returns the link, the linked customer and the record counts of a Stripe customer. @throws AppError not_found */
export async function getStripeCustomer(db: Database, id: string) {
  const [found] = await db
    .select({ link: getTableColumns(stripeCustomers), customer: snippetColumns })
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(eq(stripeCustomers.stripe_customer_id, id));
  if (!found) throw new AppError('not_found', `There is no Stripe customer ${id}.`);
  const ofIt = eq(invoices.stripe_customer_id, id);
  const itsInvoices = db.select({ id: invoices.id }).from(invoices).where(ofIt);
  return {
    ...found.link,
    customer: toCustomerSnippet(found.customer),
    subscriptions: await db.$count(subscriptions, eq(subscriptions.stripe_customer_id, id)),
    invoices: await db.$count(invoices, ofIt),
    payments: await db.$count(payments, inArray(payments.invoice_id, itsInvoices)),
  };
}

/** Lists a page of the Stripe customers that staff should confirm. A malformed cursor returns the first page. */
export async function listCreatedForStripe(db: Database, page: PageStart & { limit: number }) {
  const { customer_id, stripe_customer_id } = stripeCustomers;
  const known = (text: string | undefined) => (placeOf(text) ? text : undefined);
  return readCursorPage(
    { after: known(page.after), before: known(page.before) },
    page.limit,
    async (cursor, backwards, limit) => {
      const place = placeOf(cursor ?? undefined);
      const beyond = backwards ? sql`>` : sql`<`;
      const found = await db
        .select({
          stripe_customer_id,
          created_at: stripeCustomers.created_at,
          customer: snippetColumns,
          // The number of another customer with the same e-mail address. If several have it, the smallest id decides.
          same: sql<string | null>`(select s.customer_number from customers s
            where lower(s.email) = lower(${customers.email}) and s.id <> ${customers.id} order by s.id limit 1)`,
        })
        .from(stripeCustomers)
        .innerJoin(customers, eq(customers.id, customer_id))
        .where(
          and(
            sql`${stripeCustomers.linked_by} = 'created'`, // Must equal the partial index's condition.
            place &&
              sql`(${customer_id}, ${stripe_customer_id}) ${beyond} (${place.id}::int, ${place.stripeId})`,
          ),
        )
        .orderBy(...[customer_id, stripe_customer_id].map((column) => (backwards ? asc : desc)(column)))
        .limit(limit);
      return found.map((row) => ({ ...row, customer: toCustomerSnippet(row.customer) }));
    },
    (row) => `${row.customer.id}.${row.stripe_customer_id}`,
  );
}

/** Returns the customer's id and the Stripe id that a cursor names. Returns undefined for a malformed cursor. */
function placeOf(cursor: string | undefined) {
  const [, id, stripeId] = /^(\d{1,10})\.([!-~]{1,255})$/.exec(cursor ?? '') ?? [];
  return validId(id) ? { id, stripeId } : undefined;
}

export async function countLinks(db: Database): Promise<Record<LinkedBy, number>> {
  const { linked_by } = stripeCustomers;
  const found = await db.select({ linked_by, n: count() }).from(stripeCustomers).groupBy(linked_by);
  const none = { staff: 0, number: 0, email: 0, created: 0 };
  return { ...none, ...Object.fromEntries(found.map((row) => [row.linked_by, row.n])) };
}

export async function listStripeCustomersOf(db: Database, customerId: number) {
  return db
    .select({ id: stripeCustomers.stripe_customer_id, linked_by: stripeCustomers.linked_by })
    .from(stripeCustomers)
    .where(eq(stripeCustomers.customer_id, customerId))
    .orderBy(asc(stripeCustomers.created_at), asc(stripeCustomers.stripe_customer_id))
    .limit(literal(MAX_STRIPE_CUSTOMERS));
}

const MAX_STRIPE_CUSTOMERS = 25;

export async function listItemsOfOthers(db: Database, stripeCustomerId: string, customerId: number) {
  return db
    .select({ item: getTableColumns(subscriptionItems), service_number: customerServices.service_number })
    .from(subscriptionItems)
    .innerJoin(subscriptions, eq(subscriptions.id, subscriptionItems.subscription_id))
    .innerJoin(customerServices, eq(customerServices.id, subscriptionItems.customer_service_id))
    .where(
      and(
        eq(subscriptions.stripe_customer_id, stripeCustomerId),
        ne(customerServices.customer_id, customerId),
      ),
    )
    .orderBy(asc(subscriptionItems.id));
}

/** A Stripe customer that neither a number nor staff has linked, and the customer that its e-mail address suggests. */
export type UnconfirmedLink = {
  stripe_customer_id: string;
  linked_by: 'created' | 'email';
  email: string | null;
  name: string;
  /** Id of the customer to which the Stripe customer is currently linked. */
  from: number;
  from_number: string;
  /** Number of customers with the same e-mail address, not counting customers that sync created. */
  matches: number;
  /**
   * Id of the suggested customer. If the link was made by e-mail address, it equals `from`. Otherwise it is the only
   * customer that matches, or null if no customer or more than one matches.
   */
  to: number | null;
  to_number: string | null;
  to_name: string;
  /**
   * True if the suggested customer is the only one that matches, Stripe reported the e-mail address, and no recheck of
   * the link is due.
   */
  is_clear: boolean;
};

/**
 * Query for unconfirmed links. Only an existing link by e-mail may suggest a customer that sync created, because the
 * e-mail addresses of such customers come from Stripe and confirm nothing.
 */
const UNCONFIRMED_LINKS = sql`
  select l.stripe_customer_id, l.linked_by, c.email, ${nameOfAlias('c')} as name, c.id as "from",
    c.customer_number as from_number, same.matches, o.id as "to", o.customer_number as to_number,
    ${nameOfAlias('o')} as to_name,
    same.matches = 1 and same.first = o.id and l.recheck_at is null and exists (
      select from jsonb_array_elements(l.details) as told
      where told ->> 'field' = 'email' and lower(told -> 'value' ->> 'email') = lower(c.email)
    ) as is_clear
  from stripe_customers l
  join customers c on c.id = l.customer_id
  join lateral (
    select count(*)::int as matches, min(s.id) as first,
      case when l.linked_by = 'email' then c.id when count(*) = 1 then min(s.id) end as id
    from customers s
    where lower(s.email) = lower(c.email) and (l.linked_by = 'email' or s.id <> c.id)
      and not exists (select from stripe_customers x where x.customer_id = s.id and x.linked_by = 'created')
  ) same on true
  left join customers o on o.id = same.id
  where (l.linked_by = 'created' or l.linked_by = 'email')`;

const BATCH = 200;

export async function* readUnconfirmedLinks(db: Database): AsyncGenerator<UnconfirmedLink[]> {
  let last = { from: 0, stripe_customer_id: '' };
  for (let more = true; more; ) {
    const found = await rows<UnconfirmedLink>(
      db,
      sql`${UNCONFIRMED_LINKS}
        and (l.customer_id, l.stripe_customer_id) > (${last.from}::int, ${last.stripe_customer_id}::text)
        order by l.customer_id, l.stripe_customer_id limit ${literal(BATCH)}`,
    );
    yield found;
    last = found.at(-1) ?? last;
    more = found.length === BATCH;
  }
}

export async function countUnconfirmedLinks(db: Database): Promise<{ all: number; clear: number }> {
  const [counted] = await rows<{ all: number; clear: number }>(
    db,
    sql`select count(*)::int as "all", count(*) filter (where is_clear)::int as clear
      from (${UNCONFIRMED_LINKS}) links`,
  );
  return counted ?? { all: 0, clear: 0 };
}

export function reasonOf({ linked_by, email, matches, is_clear }: UnconfirmedLink): string {
  if (email === null) return 'no e-mail address';
  if (linked_by === 'email') return 'linked by the e-mail address, not confirmed';
  if (matches === 0) return 'no customer has the e-mail address';
  if (matches > 1) return `${matches} customers have the e-mail address`;
  return is_clear
    ? 'one customer has the e-mail address'
    : 'one customer has the e-mail address; Stripe has not confirmed it';
}

function nameOfAlias(name: string): SQL<string> {
  const alias = sql.raw(name);
  return customerNameSql({
    company: sql`${alias}.company`,
    first_name: sql`${alias}.first_name`,
    last_name: sql`${alias}.last_name`,
  });
}

export type LinkProposal = UnconfirmedLink & { email: string; to: number; to_number: string };

const PROPOSALS = sql`${UNCONFIRMED_LINKS} and same.id is not null`;

export function listLinkProposals(db: Database, limit: number): Promise<LinkProposal[]> {
  return rows<LinkProposal>(db, sql`${PROPOSALS} order by l.customer_id, 1 limit ${literal(limit)}`);
}

/** Counts proposed links, and those of them whose Stripe customer now belongs to a customer that sync created. */
export async function countLinkProposals(db: Database): Promise<{ all: number; created: number }> {
  const [counted] = await rows<{ all: number; created: number }>(
    db,
    sql`select count(*)::int as "all", count(*) filter (where linked_by = 'created')::int as created
      from (${PROPOSALS}) p`,
  );
  return counted ?? { all: 0, created: 0 };
}

export function listSameEmail(db: Database, customerId: number) {
  return rows<{ id: number; customer_number: string; name: string; is_created: boolean }>(
    db,
    sql`select s.id, s.customer_number,
        ${nameOfAlias('s')} as name,
        exists (select from stripe_customers x where x.customer_id = s.id and x.linked_by = 'created') as is_created
      from customers c join customers s on lower(s.email) = lower(c.email) and s.id <> c.id
      where c.id = ${customerId}::int order by is_created, s.id limit 10`,
  );
}

const COLUMNS = [
  'stripe_customer_id',
  'email',
  'name',
  'filed_under',
  'customer_number',
  'matches',
  'reason',
];

/**
 * Returns all unconfirmed links as CSV. `customer_number` is the suggested customer's number, or empty if no customer
 * is suggested.
 */
export function proposalsCsv(db: Database): AsyncGenerator<string> {
  return toCsv(COLUMNS, readRecords(db));
}

async function* readRecords(db: Database) {
  for await (const links of readUnconfirmedLinks(db)) {
    yield links.map((link) => ({
      ...link,
      filed_under: link.from_number,
      customer_number: link.to_number,
      reason: reasonOf(link),
    }));
  }
}
