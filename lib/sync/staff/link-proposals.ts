import { sql } from 'drizzle-orm';
import { type Database, rows } from '@/db/database';
import type { Actor } from '../../audit/audit-log';
import { AppError } from '../../errors';
import { literal } from '../../page-query';
import type { SyncDeps } from '../sync-deps';
import { linkStripeCustomer } from './link-stripe-customer';
import { nameOfAlias, UNCONFIRMED_LINKS, type UnconfirmedLink } from './unconfirmed-links';

export type LinkProposal = UnconfirmedLink & { email: string; to: number; to_number: string };

const PROPOSALS = sql`${UNCONFIRMED_LINKS} and same.id is not null`;

export function listLinkProposals(db: Database, limit: number): Promise<LinkProposal[]> {
  return rows<LinkProposal>(db, sql`${PROPOSALS} order by l.customer_id, 1 limit ${literal(limit)}`);
}

export async function countLinkProposals(db: Database): Promise<number> {
  const [counted] = await rows<{ n: number }>(db, sql`select count(*)::int as n from (${PROPOSALS}) p`);
  return counted?.n ?? 0;
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

export interface Confirmation {
  stripeCustomerId: string;
  from: number;
  to: number;
}

/** What came of a link; null: it was done. */
export interface LinkResult {
  stripeCustomerId: string;
  refusal: string | null;
}

export async function confirmLinks(
  deps: SyncDeps,
  actor: Actor,
  links: Confirmation[],
): Promise<LinkResult[]> {
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
