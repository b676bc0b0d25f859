import { toCalendarDate } from '@/lib/dates';
import { settled } from '@/lib/invoices/settled';
import type { Model } from './model';

/** As `settleInvoice`, after a payment of an invoice was written. */
export function settleModelInvoice({ tables, now }: Model, id: number): void {
  const invoice = tables.rows.invoices.get(id);
  if (!invoice || invoice.stripe_invoice_id !== null) return;
  const ofInvoice = [...tables.rows.payments.values()].filter(({ invoice_id }) => invoice_id === id);
  const after = settled(invoice, ofInvoice, { today: toCalendarDate(now(), 'UTC'), now: now() });
  tables.put('invoices', id, { ...invoice, ...after, version: invoice.version + 1 });
}
