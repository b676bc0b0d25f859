import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import type { Actor } from '../../audit/audit-log';
import { hasNumber } from '../../customers/match-customer';
import type { SyncDeps } from '../sync-deps';
import { confirmLinks } from './link-proposals';

export interface NumberedLink {
  stripe_customer_id: string;
  /** The customer that it was filed under when that was looked at. */
  filed_under: string;
  customer_number: string;
}

/** What came of a link; `already`: staff had linked it to that customer before. */
export type NumberedResult<Link> = { link: Link } & (
  | { outcome: 'linked' | 'already' }
  | { outcome: 'refused'; refusal: string }
);

export async function linkByNumber<Link extends NumberedLink>(
  deps: SyncDeps,
  actor: Actor,
  links: Link[],
): Promise<NumberedResult<Link>[]> {
  const numbers = links.map(({ customer_number }) => customer_number);
  const ids = await readIds(deps.db, numbers);
  const results: NumberedResult<Link>[] = [];
  for (const link of links) {
    const to = ids.get(link.customer_number.toLowerCase());
    const done = await linkOne(deps, actor, link, to);
    results.push({ link, ...done });
  }
  return results;
}

async function linkOne(
  deps: SyncDeps,
  actor: Actor,
  { stripe_customer_id: stripeCustomerId, filed_under, customer_number }: NumberedLink,
  to: number | undefined,
) {
  if (to === undefined) return refused(`There is no customer ${customer_number}.`);
  const held = await readHolder(deps.db, stripeCustomerId);
  if (held?.id === to && held.linked_by === 'staff') return { outcome: 'already' } as const;
  const isAsSeen = held?.customer_number.toLowerCase() === filed_under.toLowerCase();
  const from = held && isAsSeen ? held.id : 0; // matches no customer, so that the link is refused
  const [confirmed] = await confirmLinks(deps, actor, [{ stripeCustomerId, from, to }]);
  return confirmed?.refusal ? refused(confirmed.refusal) : ({ outcome: 'linked' } as const);
}

const refused = (refusal: string) => ({ outcome: 'refused', refusal }) as const;

async function readIds(db: Database, numbers: string[]): Promise<Map<string, number>> {
  const { id, customer_number } = customers;
  const found = await db.select({ id, customer_number }).from(customers).where(hasNumber(numbers));
  return new Map(found.map((row) => [row.customer_number.toLowerCase(), row.id]));
}

async function readHolder(db: Database, stripeCustomerId: string) {
  const [found] = await db
    .select({
      id: customers.id,
      customer_number: customers.customer_number,
      linked_by: stripeCustomers.linked_by,
    })
    .from(stripeCustomers)
    .innerJoin(customers, eq(customers.id, stripeCustomers.customer_id))
    .where(eq(stripeCustomers.stripe_customer_id, stripeCustomerId));
  return found;
}
