import { asc } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, stripeCustomers } from '@/db/schema';
import { isSure } from '../../customers/sure-link';
import { fromEpoch, toCalendarDate, toEpoch } from '../../dates';
import { invoicePrefix } from '../actions/checkout';
import { newId, type World } from '../world';

/** What filling the world needs from one part to the next. */
export interface Filling {
  world: World;
  calendar: Calendar;
  /** The Stripe customer of a customer: the given one if it is known, else its first one, else a new one. */
  customerOf(ourId: number, stripeId: string | null): string;
}

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
  return (ourId, stripeId) => put(rowOf(ourId), stripeId ?? first.get(ourId) ?? newId(world, 'cus_'));
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

interface Calendar {
  /** An instant that falls on the date, near its noon. */
  on(date: string): number;
  /** The same for something that has happened: not later than now. */
  past(date: string): number;
}

const HALF_DAY = 43_200;

/** Turns our calendar dates into instants that fall on them in one time zone. */
export function createCalendar(now: Date, timeZone: string): Calendar {
  const on = (date: string) => {
    const noon = Date.parse(`${date}T12:00:00Z`) / 1000;
    const seen = toCalendarDate(fromEpoch(noon), timeZone);
    if (seen === date) return noon;
    // More than twelve hours from UTC, noon there is another day here.
    return seen > date ? noon - HALF_DAY : noon + HALF_DAY;
  };
  const today = toCalendarDate(now, timeZone);
  return { on, past: (date) => (date === today ? Math.min(on(date), toEpoch(now)) : on(date)) };
}
