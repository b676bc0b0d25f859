import { type SQL, sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import { customerNameSql } from '@/db/schema';
import type { Actor } from '../../audit/record-audit';
import { AppError } from '../../errors';
import { literal } from '../../page-query';
import type { SyncDeps } from '../sync-deps';
import { linkStripeCustomer } from './link-stripe-customer';

/** A Stripe customer with the e-mail address of one of ours, which staff have not confirmed. */
export type LinkProposal = {
  stripe_customer_id: string;
  email: string;
  /** The customer that it is filed under, and that it may be: the same where its e-mail links it already. */
  from: number;
  from_number: string;
  to: number;
  to_number: string;
  to_name: string;
};

/** Customers that were created for Stripe are nobody whose address tells anything. */
const PROPOSALS = sql`
  select l.stripe_customer_id, c.email, c.id as "from", c.customer_number as from_number,
    o.id as "to", o.customer_number as to_number,
    ${nameOf(sql.raw('o'))} as to_name
  from stripe_customers l
  join customers c on c.id = l.customer_id
  join lateral (
    select case when l.linked_by = 'email' then c.id when count(*) = 1 then min(s.id) end as id from customers s
    where l.linked_by = 'created' and lower(s.email) = lower(c.email) and s.id <> c.id
      and not exists (select from stripe_customers x where x.customer_id = s.id and x.linked_by = 'created')
  ) same on same.id is not null
  join customers o on o.id = same.id
  where l.linked_by = 'created' or l.linked_by = 'email'`;

/** The oldest proposals. */
export function listLinkProposals(db: Database, limit: number): Promise<LinkProposal[]> {
  return rows<LinkProposal>(db, sql`${PROPOSALS} order by l.customer_id, 1 limit ${literal(limit)}`);
}

export async function countLinkProposals(db: Database): Promise<number> {
  const [counted] = await rows<{ n: number }>(db, sql`select count(*)::int as n from (${PROPOSALS}) p`);
  return counted?.n ?? 0;
}

/** Customers of ours with the address of the customer that a Stripe customer is filed under; itself left out. */
export function listSameEmail(db: Database, customerId: number) {
  return rows<{ id: number; customer_number: string; name: string; is_created: boolean }>(
    db,
    sql`select s.id, s.customer_number,
        ${nameOf(sql.raw('s'))} as name,
        exists (select from stripe_customers x where x.customer_id = s.id and x.linked_by = 'created') as is_created
      from customers c join customers s on lower(s.email) = lower(c.email) and s.id <> c.id
      where c.id = ${customerId}::int order by is_created, s.id limit 10`,
  );
}

export interface Confirmation {
  stripeCustomerId: string;
  from: number;
  to: number;
}

/** Confirms several links, each as a single one is. @returns what came of each; null: it was done */
export async function confirmLinks(
  deps: SyncDeps,
  actor: Actor,
  links: Confirmation[],
): Promise<{ stripeCustomerId: string; refusal: string | null }[]> {
  const results = [];
  for (const { stripeCustomerId, ...link } of links) {
    const refusal = await linkStripeCustomer(deps, actor, stripeCustomerId, link).then(
      () => null,
      (error: unknown) => {
        if (!(error instanceof AppError)) throw error;
        return error.message;
      },
    );
    results.push({ stripeCustomerId, refusal });
  }
  return results;
}

function nameOf(alias: SQL): SQL<string> {
  return customerNameSql({
    company: sql`${alias}.company`,
    first_name: sql`${alias}.first_name`,
    last_name: sql`${alias}.last_name`,
  });
}
