import { eq } from 'drizzle-orm';
import { type Database, inJoinedTexts } from '@/db/database';
import { importedRefunds, payments, refunds } from '@/db/schema';
import { transact } from '@/db/transaction';
import { recordAudits } from '../audit/audit-log';
import { bookEntries } from '../book-entries';
import { toCalendarDate } from '../dates';
import { AppError, type FieldError, invalidField } from '../errors';
import { leftOf, settleInvoices } from '../invoices/settle';
import { fromThousandths, toAmountText, toThousandths } from '../money';
import { amountProblem } from '../records/fields';
import { insertRows, orAgain } from '../records/save-records';
import {
  isOverLimit,
  type LockedInvoice,
  lockByReference,
  lockInvoicesById,
  meantCustomer,
  overLimit,
} from './lock-payment';
import { toRefund } from './money-back';
import { keyOfReference, type PaymentInput, type StoredPayment } from './schema';
import { namesStripeMoney, warnOfExcess } from './stripe-payment';
import {
  changePayment,
  isAlready,
  type PaymentWriter,
  type Refunded,
  recorderOf,
  toNewPayment,
} from './write-payment';

/** A payment from a file, with the time of its refund if it has one. */
export type GivenPayment = PaymentInput & Refunded & { refundedAt: Date };

export type Recorded =
  | { outcome: 'created' | 'unchanged'; id: number }
  | { outcome: 'refused'; problems: FieldError[] }
  /** A different payment exists, or the reference names Stripe's money. `recordPayment` must write it alone. */
  | { outcome: 'alone'; payment: StoredPayment | undefined };

type NewPayment = { given: GivenPayment; row: ReturnType<typeof toNewPayment> };

/**
 * Creates the new ones of many payments in one transaction, with the same result as `recordPayment`, but settles each
 * invoice only once. References must be unique.
 *
 * @returns the outcome of each payment, in the same order
 */
export async function recordPayments(
  db: Database,
  given: GivenPayment[],
  writer: PaymentWriter,
): Promise<Recorded[]> {
  if (given.length === 0) return [];
  try {
    return await transact(db, (tx) => recordWithin(tx, given, writer));
  } catch (error) {
    // With several rows it is unknown which one failed, so the caller tries fewer.
    if (given.length > 1 || !isOverLimit(error)) throw error;
    return [{ outcome: 'refused', problems: overLimit().fields }];
  }
}

async function recordWithin(tx: Database, given: GivenPayment[], writer: PaymentWriter): Promise<Recorded[]> {
  const known = await findKnown(tx, given);
  const unknown = given.filter((one) => !known.has(one.payment_reference));
  const invoices = await lockInvoicesById(
    tx,
    unknown.map(({ invoice_id }) => invoice_id),
  );
  const decided: (Recorded | NewPayment)[] = [];
  for (const one of given) {
    const payment = known.get(one.payment_reference);
    decided.push(payment ? compare(payment, one) : await decide(tx, one, invoices, writer));
  }
  const created = await insertNew(
    tx,
    decided.filter((one) => 'row' in one),
    writer,
  );
  for (const payment of created.values()) {
    await warnOfExcess(tx, invoices.get(payment.invoice_id), null, payment);
  }
  return decided.map((one) => {
    if (!('row' in one)) return one;
    return { outcome: 'created', id: created.get(one.row.payment_reference)?.id ?? 0 };
  });
}

async function findKnown(
  tx: Database,
  given: Pick<GivenPayment, 'payment_reference'>[],
): Promise<Map<string, StoredPayment>> {
  const references = given.map(({ payment_reference }) => payment_reference);
  const found = await tx.select().from(payments).where(inJoinedTexts(payments.payment_reference, references));
  return new Map(found.map((payment) => [payment.payment_reference, payment]));
}

const compare = (payment: StoredPayment, given: GivenPayment): Recorded =>
  isAlready(payment, given) ? { outcome: 'unchanged', id: payment.id } : { outcome: 'alone', payment };

async function decide(
  tx: Database,
  given: GivenPayment,
  invoices: Map<number, LockedInvoice>,
  writer: PaymentWriter,
): Promise<Recorded | NewPayment> {
  const invoice = invoices.get(given.invoice_id);
  if (namesStripeMoney(given.payment_reference)) return { outcome: 'alone', payment: undefined };
  const { refundedAt: _, ...input } = given;
  const customer_id = await meantCustomer(tx, input.customer_id, invoice);
  try {
    return { given, row: toNewPayment({ ...input, customer_id }, invoice, writer) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { outcome: 'refused', problems: error.fields };
  }
}

/** Writes new payments with their refunds, audit entries and bookings. @returns the payments by reference */
async function insertNew(
  tx: Database,
  fresh: NewPayment[],
  writer: PaymentWriter,
): Promise<Map<string, StoredPayment>> {
  if (fresh.length === 0) return new Map();
  const { actor, now, timeZone } = writer;
  const rows = fresh.map(({ row }) => row);
  await insertRows(tx, { table: payments }, rows).catch(orAgain);
  const created = await findKnown(tx, rows);
  const stored = fresh.flatMap(({ given }) => {
    const payment = created.get(given.payment_reference);
    return payment ? { payment, given } : [];
  });
  const back = stored
    .filter(({ payment }) => Number(payment.refunded_amount) > 0)
    .map(({ payment, given: { refundedAt } }) =>
      toRefund(payment, payment.refunded_amount, recorderOf({ ...writer, refundedAt })),
    );
  if (back.length > 0) await tx.insert(refunds).values(back);
  await recordAudits(
    tx,
    stored.map(({ payment }) => ({
      actor,
      action: 'payment.create',
      entity: 'payment',
      entity_id: payment.id,
      before: null,
      after: payment,
    })),
  );
  const paid = new Map<number, number>();
  for (const { payment } of stored) {
    paid.set(payment.invoice_id, (paid.get(payment.invoice_id) ?? 0) + leftOf(payment));
  }
  const changes = new Map([...paid].map(([id, amount]) => [id, fromThousandths(amount)]));
  await settleInvoices(tx, changes, { today: toCalendarDate(now, timeZone), now });
  await bookEntries(tx, { payments: stored.map(({ payment }) => payment.id) }, { now, timeZone });
  return created;
}

/** A refund from a file, with its own reference. */
interface GivenRefund {
  reference: string;
  /** Reference of the refunded payment. */
  payment_reference: string;
  amount: number;
  currency?: string | undefined;
  /** Day of the refund. */
  date: string;
}

/**
 * Records a partial refund of a payment once. The refund's reference identifies it, even if it is changed here later.
 *
 * @throws AppError validation_failed with the fields
 */
export async function recordGivenRefund(
  db: Database,
  { reference, amount, currency, date, ...given }: GivenRefund,
  writer: PaymentWriter,
): Promise<{ outcome: 'created' | 'unchanged'; id: number }> {
  return transact(
    db,
    async (tx) => {
      const { payment, invoices } = await lockByReference(tx, given.payment_reference, 0);
      if (!payment) throw invalidField('refund_of', 'is not a known payment');
      const [known] = await tx.select().from(importedRefunds).where(eq(importedRefunds.reference, reference));
      if (known) {
        const isSame = known.payment_id === payment.id && Number(known.amount) === amount;
        if (isSame && known.refund_date === date) return { outcome: 'unchanged', id: payment.id };
        throw invalidField('payment_reference', 'is that of another refund');
      }
      if (currency && currency !== payment.currency) {
        throw invalidField('currency', `must be ${payment.currency}, as the payment's`);
      }
      const left = (toThousandths(payment.amount) - toThousandths(payment.refunded_amount)) / 1000;
      const problem =
        amountProblem(amount, payment.currency) ??
        (amount > left
          ? `is more than is left of the payment: ${toAmountText(String(left), payment.currency)}`
          : undefined);
      if (problem) throw invalidField('amount', problem);
      const cameBack = (toThousandths(payment.refunded_amount) + toThousandths(String(amount))) / 1000;
      const { id } = await changePayment(tx, { payment, invoices }, { cameBack }, writer);
      await tx
        .insert(importedRefunds)
        .values({ reference, payment_id: id, amount: String(amount), refund_date: date });
      return { outcome: 'created', id };
    },
    undefined,
    keyOfReference(given.payment_reference),
  );
}
