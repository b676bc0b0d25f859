import { z } from 'zod';
import { textLine } from '../../fields';
import { paymentInput } from '../../payments/schema';
import { amount as anyAmount, currencyCode, instantOrDay } from '../../records/fields';

const { payment_reference, amount, payment_date, status } = paymentInput.shape;

/** The columns of a file of payments. */
export const fields = z.strictObject({
  payment_reference,
  /** The reference by which an earlier import may have recorded it. */
  import_key: payment_reference.optional(),
  /** The payment that came back: the row is a refund of it, and nothing that was paid. */
  refund_of: payment_reference.nullable().optional(),
  invoice_number: textLine(255).nullable().optional(),
  invoice_import_key: textLine(200).nullable().optional(),
  stripe_invoice_id: textLine(255).nullable().optional(),
  customer_number: textLine(100).optional(),
  amount,
  currency: currencyCode.optional(),
  payment_date,
  status,
  /** How much of it came back, and when the last of it did; without that on the day of the payment. */
  refunded_amount: anyAmount.optional(),
  refunded_at: instantOrDay.nullable().optional(),
});
export type PaymentFields = z.infer<typeof fields>;
