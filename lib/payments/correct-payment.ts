import { z } from 'zod';
import type { Database } from '@/db/database';
import { AppError, invalidField } from '../errors';
import { findPayableInvoice } from './find-payable-invoice';
import type { Precondition } from './lock-payment';
import { getPaymentContext } from './payment-context';
import { getPayment } from './queries';
import type { PaymentRow } from './schema';
import { parseTyped, typedPayment } from './typed-payment';
import { updatePayment } from './update-payment';
import type { PaymentWriter } from './write-payment';

const typedCorrection = typedPayment.extend({ invoice: z.string().trim() });

/** Names of the fields of a correction. */
export const CORRECTION_FIELDS = typedCorrection.keyof().options;

/**
 * Corrects what was recorded of a payment: its amount, day, reference or invoice. A payment that is moved to another
 * customer's invoice becomes that customer's. The books take the old payment back in this month if its own is over.
 *
 * @param typed `CORRECTION_FIELDS` as they were typed; the invoice by its number, or `#` and its id
 * @throws AppError validation_failed naming the fields; not_found; precondition_failed; conflict if the reference is
 *   taken, or the payment is Stripe's
 */
export async function correctPayment(
  db: Database,
  id: number,
  typed: Record<string, string>,
  writer: PaymentWriter,
  precondition: Precondition,
): Promise<PaymentRow> {
  const { invoice, ...values } = parseTyped(typedCorrection, typed, 'The payment is not complete.');
  const payment = await getPayment(db, id);
  if (!isCorrectable(payment)) {
    throw new AppError('conflict', 'Stripe reported this payment: correct it in Stripe.');
  }
  const moved = await targetOf(db, payment, invoice);
  return updatePayment(db, id, { ...values, ...moved }, writer, precondition);
}

/** What Stripe reported stays as Stripe has it. */
export const isCorrectable = ({ source }: Pick<PaymentRow, 'source'>): boolean => source !== 'stripe';

async function targetOf(db: Database, payment: PaymentRow, text: string) {
  const { invoice: current } = await getPaymentContext(db, payment);
  if (text === current.number || text === `#${current.id}`) return {};
  const { invoice, customer } = await findPayableInvoice(db, text);
  if (invoice.currency !== payment.currency) {
    const [its, ours] = [invoice.currency, payment.currency].map((code) => code.toUpperCase());
    throw invalidField('invoice', `is in ${its}, and the payment in ${ours}`);
  }
  return { invoice_id: invoice.id, customer_id: customer.id };
}
