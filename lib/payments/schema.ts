import { z } from 'zod';
import { paymentSource, paymentStatus } from '@/db/schema';
import { calendarDate, oneOf, rowId, textLine } from '../fields';
import { MAX_AMOUNT } from '../money';
import { pageFields } from '../page';

const amount = z
  .number('must be a number')
  .positive('must be greater than 0')
  .max(MAX_AMOUNT, `must be at most ${MAX_AMOUNT}`);

const fields = {
  invoice_id: rowId,
  customer_id: rowId,
  amount,
  payment_date: calendarDate,
  payment_reference: textLine(255),
  status: oneOf(paymentStatus.enumValues),
};

const NOT_AN_OBJECT = 'must be a JSON object';

/** Body of an upsert. Without `status` a new payment is completed and a known one keeps its own. */
export const paymentInput = z.strictObject({ ...fields, status: fields.status.optional() }, NOT_AN_OBJECT);
export type PaymentInput = z.infer<typeof paymentInput>;

/** Body of an update: any of the fields, at least one. */
export const paymentChanges = z
  .strictObject(fields, NOT_AN_OBJECT)
  .partial()
  .refine(
    (body) => Object.keys(body).length > 0,
    `must hold at least one of ${Object.keys(fields).join(', ')}`,
  );
export type PaymentChanges = z.infer<typeof paymentChanges>;

/** What a list of payments can be narrowed to; both dates are inclusive. */
export const paymentFilters = z
  .strictObject({
    customer_id: rowId.optional(),
    invoice_id: rowId.optional(),
    status: fields.status.optional(),
    payment_reference: fields.payment_reference.optional(),
    payment_date_from: calendarDate.optional(),
    payment_date_to: calendarDate.optional(),
    ...pageFields,
  })
  .refine((f) => !f.payment_date_from || !f.payment_date_to || f.payment_date_from <= f.payment_date_to, {
    path: ['payment_date_from'],
    message: 'must not be after payment_date_to',
  });
export type PaymentFilters = z.infer<typeof paymentFilters>;

/** A payment as every door shows it: amounts in whole units of the currency, instants in UTC. */
export const paymentRow = z.object({
  id: z.int(),
  invoice_id: z.int(),
  customer_id: z.int(),
  amount: z.number(),
  currency: z.string(),
  payment_date: z.string(),
  payment_reference: z.string(),
  status: z.enum(paymentStatus.enumValues),
  source: z.enum(paymentSource.enumValues),
  created_at: z.string(),
  updated_at: z.string(),
});
export type PaymentRow = z.infer<typeof paymentRow>;
