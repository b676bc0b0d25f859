import { z } from 'zod';
import type { Database } from '@/db/database';
import { AppError } from '../errors';
import { findPayableInvoice } from './find-payable-invoice';
import { normalReference } from './normal-reference';
import { recordPayment } from './record-payment';
import { type PaymentRow, paymentInput } from './schema';
import type { PaymentWriter } from './write-payment';

const trimmed = z.string().trim();

/** A new payment as a person types it. A comma before three digits could mean thousands: refused. */
const typedPayment = z.object({
  amount: trimmed
    .regex(/^\d{1,12}(\.\d{1,3}|,\d{1,2})?$/, 'must be a number like 1119.00, nothing between the thousands')
    .transform((text) => Number(text.replace(',', '.')))
    .pipe(paymentInput.shape.amount),
  payment_date: trimmed.pipe(paymentInput.shape.payment_date),
  payment_reference: z.string().overwrite(normalReference).trim().pipe(paymentInput.shape.payment_reference),
});

/** Names of its fields. */
export const TYPED_FIELDS = typedPayment.keyof().options;

/**
 * Records a new, completed payment of an invoice by its customer.
 *
 * @param typed `TYPED_FIELDS` as they were typed
 * @throws AppError validation_failed naming the fields; conflict when the reference is taken
 */
export async function recordForInvoice(
  db: Database,
  invoiceId: number,
  typed: Record<string, string>,
  writer: PaymentWriter,
): Promise<PaymentRow> {
  const { invoice, customer } = await findPayableInvoice(db, `#${invoiceId}`);
  const parsed = typedPayment.safeParse(typed);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path, message }) => ({ field: String(path[0]), message }));
    throw new AppError('validation_failed', 'The payment is not complete.', fields);
  }
  const input = { ...parsed.data, invoice_id: invoice.id, customer_id: customer.id };
  return (await recordPayment(db, input, writer, { onlyNew: true })).payment;
}
