import type { Database } from '@/db/database';
import { invoices } from '@/db/schema';
import { invalidField } from '../errors';
import { textLine } from '../fields';
import { matchInvoice } from '../invoices/match-invoice';
import { literal } from '../page-query';
import { takesPayments } from './check-payment';
import { getPaymentContext } from './payment-context';

const MAX_NAMED = 5;

/**
 * The invoice that staff name, with its customer, when it can be paid.
 *
 * @param text its number, or `#` and its id
 * @throws AppError validation_failed at the field `invoice`
 */
export async function findPayableInvoice(db: Database, text: string) {
  const named = textLine(100).safeParse(text);
  if (!named.success) throw invalidField('invoice', named.error.issues[0]?.message ?? '');
  const found = await db
    .select({ id: invoices.id, customer_id: invoices.customer_id, status: invoices.status })
    .from(invoices)
    .where(matchInvoice(text))
    .orderBy(invoices.id)
    .limit(literal(MAX_NAMED));
  const [invoice, another] = found;
  if (!invoice) throw invalidField('invoice', 'there is no such invoice');
  if (another) {
    const ids = found.map(({ id }) => `#${id}`).join(', ');
    throw invalidField('invoice', `is a number of several invoices: enter one of ${ids}`);
  }
  if (!takesPayments(invoice)) throw invalidField('invoice', `is ${invoice.status} and takes no payment`);
  return getPaymentContext(db, { invoice_id: invoice.id, customer_id: invoice.customer_id });
}
