import { and, asc, eq, inArray, isNotNull, isNull, ne, notInArray, or } from 'drizzle-orm';
import type { PgColumn, PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '@/db/database';
import { customerServices, invoices, subscriptions } from '@/db/schema';
import { literal } from '../page-query';

/** So many are counted, and so many named. */
const MOST = 100;
const NAMED = 3;

/** Why a customer cannot be erased yet, as parts of a sentence; empty where nothing is open. */
export async function whatIsOpen(db: Database, id: number): Promise<string[]> {
  const [i, s, b] = [invoices, customerServices, subscriptions];
  const unpaid = await namesOf(
    db,
    i,
    i.number,
    and(eq(i.customer_id, id), inArray(i.status, ['sent', 'overdue'])),
  );
  const drafts = await namesOf(db, i, i.id, and(eq(i.customer_id, id), eq(i.status, 'draft')));
  const services = await namesOf(
    db,
    s,
    s.service_number,
    and(eq(s.customer_id, id), notInArray(s.status, ['cancelled', 'terminated'])),
  );
  // A sold subscription that never appeared at Stripe is not billed.
  const isAtStripe = or(isNotNull(b.stripe_subscription_id), ne(b.status, 'incomplete'));
  const live = and(eq(b.customer_id, id), ne(b.status, 'cancelled'), isNull(b.provider_gone_at), isAtStripe);
  const subscribed = await namesOf(db, b, b.id, live);
  return [
    part(unpaid, 'invoice is unpaid', 'invoices are unpaid'),
    part(drafts, 'invoice is a draft', 'invoices are drafts'),
    part(services, 'service has not ended', 'services have not ended'),
    part(subscribed, 'subscription is live', 'subscriptions are live'),
  ].filter((text) => text !== null);
}

type Where = ReturnType<typeof and>;
type Keyed = PgTable & { id: PgColumn };

async function namesOf(db: Database, table: Keyed, name: PgColumn, where: Where): Promise<string[]> {
  const found = await db
    .select({ name })
    .from(table)
    .where(where)
    .orderBy(asc(table.id))
    .limit(literal(MOST));
  return found.map((row) => String(row.name));
}

function part(names: string[], one: string, many: string): string | null {
  if (names.length === 0) return null;
  const named = names.slice(0, NAMED).join(', ');
  const others = names.length > NAMED ? ', …' : '';
  return `${names.length} ${names.length === 1 ? one : many} (${named}${others})`;
}
