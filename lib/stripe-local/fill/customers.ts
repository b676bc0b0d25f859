import { asc } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { isSure } from '../../customers/sure-link';
import { toEpoch } from '../../dates';
import { invoicePrefix } from '../actions/customers';
import { newId, type World } from '../world';
import type { Filling } from './context';

type OurCustomer = typeof customers.$inferSelect;
type LinkedBy = (typeof stripeCustomers.$inferSelect)['linked_by'];

/** Puts every Stripe customer that we know into the world. */
export async function fillCustomers(world: World, db: Database): Promise<Filling['customerOf']> {
  const ours = new Map((await db.select().from(customers)).map((row) => [row.id, row]));
  const links = await db
    .select()
    .from(stripeCustomers)
    .orderBy(asc(stripeCustomers.created_at), asc(stripeCustomers.stripe_customer_id));
  const first = new Map<number, string>();
  const put = (row: OurCustomer, id: string, linkedBy: LinkedBy = 'number') => {
    if (!world.customers.get(id)) putCustomer(world, row, id, linkedBy);
    if (!first.has(row.id)) first.set(row.id, id);
    return id;
  };
  const rowOf = (ourId: number) => {
    const row = ours.get(ourId);
    if (!row) throw new Error(`no customer ${ourId}`);
    return row;
  };
  for (const { customer_id, stripe_customer_id: id, linked_by } of links)
    put(rowOf(customer_id), id, linked_by);
  return (ourId, stripeId) => {
    const known = stripeId ?? first.get(ourId);
    return put(rowOf(ourId), known ?? newId(world, 'cus_'));
  };
}

function putCustomer(world: World, row: OurCustomer, id: string, linkedBy: LinkedBy): void {
  world.customers.put({
    object: 'customer',
    id,
    created: toEpoch(row.created_at),
    email: row.email,
    name: row.company ?? ([row.first_name, row.last_name].filter(Boolean).join(' ') || null),
    address: null,
    // One that it names would be a sure link.
    metadata: isSure({ linkedBy }) ? { customer_number: row.customer_number } : {},
    deleted: false,
    invoicePrefix: invoicePrefix(id),
    nextInvoiceSequence: 1,
  });
}
