import { eq } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { invoices, payments, subscriptions } from '@/db/schema';
import { type Actor, recordAudit } from '../../audit/audit-log';
import { AppError } from '../../errors';
import { stripePaymentOf } from '../../payments/stripe-payment';
import { decideMissing } from '../reconcile/steps/record-missing-payments';
import { mergeKeys, noKeys } from '../store/keys';
import type { SyncDeps } from '../sync-deps';
import { attempt, type Check, type Checked, perform, retrieve } from './check';
import { checkPaidBack } from './check-paid-back';
import { withNewIds } from './with-new-ids';

export type Checkable = 'payment' | 'invoice' | 'subscription';

/**
 * Checks an invoice with its payment, and a payment with its invoice and with what came back of it.
 *
 * @throws AppError not_found; conflict for a record that Stripe does not know, and without an API key
 */
export async function checkWithStripe(
  deps: SyncDeps,
  actor: Actor,
  entity: Checkable,
  id: number,
): Promise<Checked> {
  const { stripe } = deps;
  const { subscription, invoice, paymentIds, customer_id } = await findRecord(deps.db, entity, id);
  if (!stripe) throw new AppError('conflict', 'STRIPE_SECRET_KEY is not set: Stripe cannot be asked.');
  const check: Check = { deps: { ...deps, stripe }, changes: [], failures: [] };
  if (subscription) await retrieve(check, 'subscription', subscription);
  if (invoice) await checkInvoice(check, invoice);
  const known = entity === 'invoice' ? await paymentsOf(deps.db, id) : paymentIds;
  for (const paymentId of known) await checkPaidBack(check, paymentId, invoice ?? null);
  const { failures } = check;
  const changes = await withNewIds(deps.db, check.changes);
  await recordAudit(deps.db, {
    actor,
    action: `${entity}.check`,
    entity,
    entity_id: id,
    before: null,
    after: { customer_id, changes, failures },
  });
  return { changes, failures };
}

async function checkInvoice(check: Check, id: string): Promise<void> {
  await retrieve(check, 'invoice', id);
  await attempt(check, () =>
    perform(check, {
      stripeCustomerId: null,
      keys: mergeKeys(noKeys(), { invoices: [id], payments: [id] }),
      decide: (draft) => decideMissing(draft, id),
    }),
  );
}

interface Found {
  /** Stripe's ids. */
  subscription?: string;
  invoice?: string | null;
  paymentIds: number[];
  customer_id: number;
}

async function findRecord(db: Database, entity: Checkable, id: number): Promise<Found> {
  if (entity === 'payment') {
    const [found] = await db
      .select({
        invoice: invoices.stripe_invoice_id,
        intent: payments.stripe_payment_intent_id,
        reference: payments.payment_reference,
        customer_id: payments.customer_id,
      })
      .from(payments)
      .innerJoin(invoices, eq(invoices.id, payments.invoice_id))
      .where(eq(payments.id, id));
    if (!found) throw notFound(entity, id);
    const { invoice, customer_id } = found;
    if (invoice === null && stripePaymentOf(found) === null) throw unknownTo(entity);
    return { invoice, customer_id, paymentIds: [id] };
  }
  const [found] =
    entity === 'invoice'
      ? await db
          .select({ stripeId: invoices.stripe_invoice_id, customer_id: invoices.customer_id })
          .from(invoices)
          .where(eq(invoices.id, id))
      : await db
          .select({ stripeId: subscriptions.stripe_subscription_id, customer_id: subscriptions.customer_id })
          .from(subscriptions)
          .where(eq(subscriptions.id, id));
  if (!found) throw notFound(entity, id);
  const { stripeId, customer_id } = found;
  if (stripeId === null) throw unknownTo(entity);
  return { [entity]: stripeId, paymentIds: [], customer_id };
}

async function paymentsOf(db: Database, invoiceId: number): Promise<number[]> {
  const found = await db.select({ id: payments.id }).from(payments).where(eq(payments.invoice_id, invoiceId));
  return found.map(({ id }) => id);
}

const unknownTo = (entity: Checkable) => new AppError('conflict', `Stripe does not know this ${entity}.`);
const notFound = (entity: Checkable, id: number) => new AppError('not_found', `There is no ${entity} ${id}.`);
