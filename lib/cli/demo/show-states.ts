import { and, asc, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Database } from '@/db/database';
import {
  customers,
  invoices,
  reconciliationChanges,
  reconciliationRuns,
  stripeCustomers,
  subscriptions,
} from '@/db/schema';
import { toCalendarDate } from '../../dates';
import { literal } from '../../page-query';
import { recordForInvoice } from '../../payments/typed-payment';
import { DEMO_ACTOR } from './settings';

const HOUR = 3_600_000;
const OVERPAID = 20;

type When = { now: Date; timeZone: string };

/** Adds problems, such as an overpaid invoice, that the sample data lacks, so that staff pages show them. */
export async function showStates(db: Database, { now, timeZone }: When): Promise<void> {
  await storeRun(db, now);
  await createFromStripe(db);
  await overpay(db, { now, timeZone });
}

/** Stores a reconciliation run from nine hours ago that corrected three fields of two records. */
async function storeRun(db: Database, now: Date): Promise<void> {
  const started = new Date(now.getTime() - 9 * HOUR);
  const finished = new Date(started.getTime() + 84_000);
  const [invoice] = await db
    .select({ id: invoices.id, stripe_id: invoices.stripe_invoice_id })
    .from(invoices)
    .where(and(eq(invoices.status, 'paid'), isNotNull(invoices.stripe_invoice_id)))
    .orderBy(asc(invoices.id))
    .limit(literal(1));
  const [subscription] = await db
    .select({ id: subscriptions.id, stripe_id: subscriptions.stripe_subscription_id })
    .from(subscriptions)
    .where(eq(subscriptions.status, 'past_due'))
    .limit(literal(1));
  if (!invoice || !subscription) return;
  const [run] = await db
    .insert(reconciliationRuns)
    .values({
      trigger: 'schedule',
      status: 'completed',
      phase: 'done',
      started_at: started,
      heartbeat_at: finished,
      finished_at: finished,
      lists_completed: true,
      objects_checked: 1_958,
      changes_count: 3,
    })
    .returning({ id: reconciliationRuns.id });
  if (!run) return;
  const changeOf = (entity: 'invoice' | 'subscription', { id, stripe_id }: typeof invoice) =>
    ({ run_id: run.id, outcome: 'fixed', entity, entity_id: id, stripe_id }) as const;
  await db.insert(reconciliationChanges).values([
    { ...changeOf('invoice', invoice), field: 'status', before: 'sent', after: 'paid' },
    { ...changeOf('invoice', invoice), field: 'paid_at', before: null, after: started.toISOString() },
    { ...changeOf('subscription', subscription), field: 'status', before: 'active', after: 'past_due' },
  ]);
}

/** Creates a customer as sync does for a Stripe customer that matches no customer. */
async function createFromStripe(db: Database): Promise<void> {
  const [created] = await db
    .insert(customers)
    .values({
      customer_number: 'KSTRIPE1',
      first_name: 'Jana',
      last_name: 'Novak',
      email: 'jana.novak@example.com',
      country: 'SI',
    })
    .onConflictDoNothing()
    .returning({ id: customers.id });
  if (!created) return;
  await db
    .insert(stripeCustomers)
    .values({ stripe_customer_id: 'cus_DemoUnmatched', customer_id: created.id, linked_by: 'created' });
}

/** Records a bank transfer of more than the amount due. */
async function overpay(db: Database, { now, timeZone }: When): Promise<void> {
  const [invoice] = await db
    .select({ id: invoices.id, number: invoices.number, due: invoices.amount_due })
    .from(invoices)
    .where(and(eq(invoices.status, 'sent'), isNull(invoices.stripe_invoice_id)))
    .orderBy(asc(invoices.id))
    .limit(literal(1));
  if (!invoice) return;
  const typed = {
    amount: (Number(invoice.due) + OVERPAID).toFixed(2),
    payment_date: toCalendarDate(now, timeZone),
    payment_reference: `Transfer ${invoice.number}`,
  };
  await recordForInvoice(db, invoice.id, typed, { actor: DEMO_ACTOR, source: 'staff', now, timeZone });
}
