import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Database } from '@/db/database';
import { customers, disputes, invoices } from '@/db/schema';
import type { CustomerSnippet } from '../customers/schema';
import { snippetColumns, toCustomerSnippet } from '../customers/snippet';
import { AppError } from '../errors';
import { toJsonAmount } from '../money';
import { isOpenDispute } from './counted-back';
import type { PaymentRow } from './schema';

type Keys = Pick<PaymentRow, 'customer_id' | 'invoice_id'>;

/** What a page says of the invoice and the customer of a payment. */
export async function getPaymentContext(db: Database, payment: Keys) {
  const [found] = await db
    .select({
      invoice: {
        id: invoices.id,
        number: invoices.number,
        status: invoices.status,
        invoice_date: invoices.invoice_date,
        due_date: invoices.due_date,
        currency: invoices.currency,
        total: invoices.total,
        amount_paid: invoices.amount_paid,
        amount_due: invoices.amount_due,
        stripe_invoice_id: invoices.stripe_invoice_id,
        recorded: sql<string>`(select coalesce(sum(p.amount - p.refunded_amount), 0)::text from payments p
          where p.invoice_id = invoices.id and p.status = 'completed')`,
      },
    })
    .from(invoices)
    .where(eq(invoices.id, payment.invoice_id));
  const [customer] = await db
    .select(snippetColumns)
    .from(customers)
    .where(eq(customers.id, payment.customer_id));
  // Deleted between two reads; the tables' foreign keys allow nothing else.
  if (!found || !customer) throw new AppError('not_found', 'The payment was deleted meanwhile.');
  const { total, amount_paid, amount_due, recorded, ...invoice } = found.invoice;
  return {
    customer: toCustomerSnippet(customer),
    invoice: {
      ...invoice,
      total: toJsonAmount(total),
      amount_paid: toJsonAmount(amount_paid),
      amount_due: toJsonAmount(amount_due),
      /** The remaining amount of its completed payments. */
      recorded: toJsonAmount(recorded),
    },
  };
}

export type PaymentContext = Awaited<ReturnType<typeof getPaymentContext>>;

/** A payment of a list together with whom and what it is for. */
export interface NamedPayment extends PaymentRow {
  customer: CustomerSnippet | null;
  invoice_number: string | null;
  /** The status of its open dispute; null without one. */
  disputed: (typeof disputes.$inferSelect)['status'] | null;
}

/** Adds the customers, the invoice numbers and the open disputes to the payments of one page. */
export async function namePayments(db: Database, payments: PaymentRow[]): Promise<NamedPayment[]> {
  if (payments.length === 0) return [];
  const customerIds = [...new Set(payments.map((payment) => payment.customer_id))];
  const invoiceIds = [...new Set(payments.map((payment) => payment.invoice_id))];
  const people = await db.select(snippetColumns).from(customers).where(inArray(customers.id, customerIds));
  const numbers = await db
    .select({ id: invoices.id, number: invoices.number })
    .from(invoices)
    .where(inArray(invoices.id, invoiceIds));
  const open = await db
    .select({ id: disputes.payment_id, status: disputes.status })
    .from(disputes)
    .where(
      and(
        inArray(
          disputes.payment_id,
          payments.map(({ id }) => id),
        ),
        isOpenDispute,
      ),
    );
  const customerById = new Map(people.map((record) => [record.id, toCustomerSnippet(record)]));
  const numberById = new Map(numbers.map((invoice) => [invoice.id, invoice.number]));
  const disputeById = new Map(open.map(({ id, status }) => [id, status]));
  return payments.map((payment) => ({
    ...payment,
    customer: customerById.get(payment.customer_id) ?? null,
    invoice_number: numberById.get(payment.invoice_id) ?? null,
    disputed: disputeById.get(payment.id) ?? null,
  }));
}
