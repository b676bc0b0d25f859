import { z } from 'zod';
import { AppError } from '../errors';
import { ambiguityProblem, typedAmount } from '../typed-amount';
import { normalReference } from './normal-reference';
import { paymentInput } from './schema';

const trimmed = z.string().trim();

/** An amount as a person types it. */
export const amountField = z
  .string()
  .transform((text, { issues }) => {
    const amount = typedAmount(text);
    if (amount !== null) return Number(amount);
    issues.push({
      code: 'custom',
      input: text,
      message: ambiguityProblem(text) ?? 'must be a number like 1119.00',
    });
    return z.NEVER;
  })
  .pipe(paymentInput.shape.amount);

export const typedDate = trimmed.pipe(paymentInput.shape.payment_date);

/** A payment as a person types it. */
export const typedPayment = z.object({
  amount: amountField,
  payment_date: typedDate,
  payment_reference: z.string().overwrite(normalReference).pipe(paymentInput.shape.payment_reference),
});

/** Names of its fields. */
export const TYPED_FIELDS = typedPayment.keyof().options;

/**
 * @param typed `TYPED_FIELDS` as they were typed
 * @throws AppError validation_failed naming the fields
 */
export function toPayment(typed: Record<string, string>): z.output<typeof typedPayment> {
  return parseTyped(typedPayment, typed, 'The payment is not complete.');
}

/** @throws AppError validation_failed naming the fields */
export function parseTyped<T>(schema: z.ZodType<T>, typed: Record<string, string>, message: string): T {
  const parsed = schema.safeParse(typed);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map(({ path, message }) => ({ field: String(path[0]), message }));
  throw new AppError('validation_failed', message, fields);
}
