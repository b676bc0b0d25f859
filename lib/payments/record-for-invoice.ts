import type { Database } from '@/db/database';
import { findPayableInvoice } from './find-payable-invoice';
import { recordPayment } from './record-payment';
import type { PaymentRow } from './schema';
import { toPayment } from './typed-payment';
import type { PaymentWriter } from './write-payment';

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
  const input = { ...toPayment(typed), invoice_id: invoice.id, customer_id: customer.id };
  return (await recordPayment(db, input, writer, { onlyNew: true })).payment;
}
