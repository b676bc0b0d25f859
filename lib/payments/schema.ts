import { z } from 'zod';
import { paymentSource, paymentStatus, type payments, type refunds } from '@/db/schema';
import type { Actor } from '../audit/audit-log';
import { AppError } from '../errors';
import { calendarDate, oneOf, rowId, textLine } from '../fields';
import { MAX_AMOUNT, toJsonAmount } from '../money';
import { pageFields } from '../page';

// Matches invisible characters, such as zero-width and bidirectional marks, soft hyphens, fillers and annotation marks.
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;

// Matches adjacent spaces of any kind, including no-break, thin and ideographic spaces.
const SPACES = /\p{Z}+/gu;

/**
 * Normalizes a payment reference. Removes invisible characters, replaces adjacent spaces of any kind with one plain
 * space, trims, and composes letters (NFC), so that references that differ only in these respects are equal.
 */
export function normalReference(text: string): string {
  return text.replace(INVISIBLE, '').normalize('NFC').replace(SPACES, ' ').trim();
}

const amount = z
  .number('must be a number')
  .positive('must be greater than 0')
  .max(MAX_AMOUNT, `must be at most ${MAX_AMOUNT}`)
  .meta({
    description:
      "In whole units of the invoice's currency, with no more decimals than it has: 119.5 EUR, 1200 JPY.",
    examples: [119],
  });

const fields = {
  invoice_id: rowId.meta({
    description: 'The invoice that is paid. It belongs to the customer and is neither draft nor cancelled.',
    examples: [1],
  }),
  customer_id: rowId.meta({ description: 'The customer who pays.', examples: [1] }),
  amount,
  payment_date: calendarDate.meta({ description: 'The day of the payment.', examples: ['2026-03-10'] }),
  payment_reference: textLine(255, normalReference).meta({
    description:
      'Names the payment: a POST with a known reference updates. One line of readable text, kept and looked up in NFC, without characters that show nothing, with spaces of any kind as one and none at the ends.',
    // The published schema cannot contain the checks of `textLine`, so this pattern repeats them.
    pattern: '^[^\\p{Cc}\\p{Cs}]*[^\\p{Z}\\p{C}\\p{Default_Ignorable_Code_Point}][^\\p{Cc}\\p{Cs}]*$',
    examples: ['BANK-2026-0310'],
  }),
  status: oneOf(paymentStatus.enumValues).meta({
    description: 'Only completed payments count towards the invoice.',
    examples: ['completed'],
  }),
};

const NOT_AN_OBJECT = 'must be a JSON object';

/**
 * Body of an upsert. Without `status`, a new payment is completed. An existing payment keeps its status, unless a new
 * amount makes a completed payment fully refunded, or a refunded payment no longer fully refunded.
 */
export const paymentInput = z.strictObject({ ...fields, status: fields.status.optional() }, NOT_AN_OBJECT);
export type PaymentInput = z.infer<typeof paymentInput>;

const changes = z.strictObject(fields, NOT_AN_OBJECT).partial();
export type PaymentChanges = z.infer<typeof changes>;

const readOnly = z.unknown().optional().meta({ readOnly: true });

const readOnlyFields = {
  id: readOnly,
  currency: readOnly,
  refunded_amount: readOnly,
  source: readOnly,
  transfer: readOnly,
  created_at: readOnly,
  updated_at: readOnly,
};
export const READ_ONLY = Object.keys(readOnlyFields) as (keyof typeof readOnlyFields)[];

/** Body of an update, with at least one field. A client can send back the response of GET unchanged. */
export const paymentUpdate = changes
  .extend(readOnlyFields)
  .refine(
    (body) => Object.keys(body).length > 0,
    `must hold at least one of ${Object.keys(fields).join(', ')}`,
  )
  .meta({ minProperties: 1 });
export type PaymentUpdate = z.infer<typeof paymentUpdate>;

/** Filters of a list of payments. Both dates are inclusive. */
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

const instant = z.string().meta({ format: 'date-time', examples: ['2026-03-10T09:30:00.000Z'] });

/** A payment in REST and pages, with amounts in major units of the currency and times in UTC. */
export const paymentRow = z.object({
  id: z.int().meta({ examples: [1] }),
  invoice_id: z.int().meta({ examples: [1] }),
  customer_id: z.int().meta({ examples: [1] }),
  amount: z.number().meta({ description: 'In whole units of the currency.', examples: [119] }),
  currency: z.string().meta({ description: 'ISO 4217, in lower case.', examples: ['eur'] }),
  payment_date: z.string().meta({ format: 'date', examples: ['2026-03-10'] }),
  payment_reference: z.string().meta({ examples: ['BANK-2026-0310'] }),
  status: z.enum(paymentStatus.enumValues),
  refunded_amount: z.number().meta({
    description: 'Sum of the succeeded refunds and lost disputes of this payment.',
    examples: [0],
  }),
  source: z.enum(paymentSource.enumValues).meta({ description: 'Who recorded the money.' }),
  transfer: z
    .string()
    .nullable()
    .meta({
      description:
        'Reference of the transfer that the payment is a share of: money that staff recorded once and spread over several invoices. Null for any other payment.',
      examples: [null],
    }),
  created_at: instant,
  updated_at: instant,
});
export type PaymentRow = z.infer<typeof paymentRow>;

/** The created or updated payment in a response, with a warning if there is one. */
export const writtenPayment = paymentRow.extend({
  warning: z
    .string()
    .meta({
      description:
        'Warns that the payments of the invoice exceed the amount that Stripe requests. Staff also see a task.',
    })
    .optional(),
});
export type WrittenPayment = z.infer<typeof writtenPayment>;

export type StoredPayment = typeof payments.$inferSelect;

/** Who is writing a payment, from which source, and when. */
export interface PaymentWriter {
  actor: Actor;
  source: 'api' | 'staff' | 'import';
  now: Date;
  /** Returns the current time, by which accounting books the write (see `RecordWriter`). Defaults to `now`. */
  clock?(): Date;
  timeZone: string;
}

export interface Refunded {
  /**
   * The new total refunded amount. If it is more than the sum of the known refunds and lost disputes, the difference is
   * recorded as a refund.
   */
  cameBack?: number | undefined;
  /** Time of a refund that this write records. Defaults to the time of the write. */
  refundedAt?: Date | undefined;
  /** Reason of a refund that this write records. */
  refundReason?: string | undefined;
}

/** Function that returns whether the current payment still meets the writer's condition, such as If-Match. */
export type Precondition<Current = PaymentRow> = (current: Current) => boolean;

type Changes = PaymentUpdate & Refunded;

/**
 * The requested changes, or a function that derives them from the stored payment and its refunds. The function must not
 * change the invoice, the customer or the reference, because the other rows that such a change needs are not read.
 */
export type RequestedChanges = Changes | ((current: StoredPayment, itsRefunds: RefundState[]) => Changes);

/** The fields of a refund that show whether the bank took the money back. */
export type RefundState = Pick<typeof refunds.$inferSelect, 'reason' | 'status'>;

/** Returns the requested changes of a payment. */
export const toChanges = (
  requested: RequestedChanges,
  current: StoredPayment,
  itsRefunds: RefundState[],
): Changes => (typeof requested === 'function' ? requested(current, itsRefunds) : requested);

/** A change that a person or a program requests. */
export type PaymentChange =
  | {
      kind: 'record';
      input: PaymentInput & Refunded;
      /** Whether to refuse a reference that is in use, instead of updating the payment that has it. */
      onlyNew?: boolean;
      /** Checks the current payment, which is null if no payment has the reference. */
      precondition?: Precondition<PaymentRow | null> | undefined;
    }
  | {
      kind: 'update';
      id: number;
      changes: RequestedChanges;
      precondition?: Precondition | undefined;
    }
  | { kind: 'delete'; id: number; precondition?: Precondition | undefined };

/** The source of customer credit: the unused part of a transfer, or a payment of an overpaid invoice. */
export type CreditSource = { transfer: string } | { payment: number; invoice: number; reference: string };

export function paymentNotFound(id: number): AppError {
  return new AppError('not_found', `There is no payment ${id}.`);
}

/** Converts a row to a public payment. Parses it, so that a new column does not become public by accident. */
export function toPaymentRow(row: StoredPayment): PaymentRow {
  return paymentRow.parse({
    ...row,
    amount: toJsonAmount(row.amount),
    refunded_amount: toJsonAmount(row.refunded_amount),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  });
}

/** Returns whether a payment already has the requested values. */
export const isAlready = (payment: StoredPayment, changes: PaymentChanges & Refunded): boolean =>
  isSame(payment, withChanges(payment, changes), changes.cameBack);

/** Returns a payment's fields with the changes applied. */
export const withChanges = (before: StoredPayment, changes: PaymentChanges) => ({
  invoice_id: changes.invoice_id ?? before.invoice_id,
  customer_id: changes.customer_id ?? before.customer_id,
  amount: changes.amount ?? Number(before.amount),
  payment_date: changes.payment_date ?? before.payment_date,
  payment_reference: changes.payment_reference ?? before.payment_reference,
  status: changes.status ?? before.status,
});

/**
 * Returns whether a payment already has these values.
 *
 * @param refundedAmount the requested refunded amount; undefined if the request does not set it
 */
export function isSame(
  before: StoredPayment,
  values: Partial<Record<keyof StoredPayment, unknown>>,
  refundedAmount: number | undefined,
): boolean {
  const isRefundedAmountSame =
    refundedAmount === undefined || refundedAmount === Number(before.refunded_amount);
  return (
    isRefundedAmountSame &&
    Object.entries(values).every(([field, value]) =>
      field === 'amount'
        ? Number(before.amount) === Number(value)
        : before[field as keyof StoredPayment] === value,
    )
  );
}

/** Error for a change that the transfer of a payment does not allow. */
export function ofTransfer(reference: string, field: string, message: string): AppError {
  return new AppError(
    'conflict',
    `The payment belongs to transfer ${reference}, which staff spread over invoices: ${field} ${message}.`,
    [{ field, message }],
  );
}
