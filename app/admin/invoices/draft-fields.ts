import type { InvoiceDetails } from '@/lib/invoices/get-invoice';
import type { LineRow } from '@/lib/invoices/line-fields';
import type { DraftField } from '../_components/draft/draft-form';
import { toLineFields } from '../_components/draft/typed-lines';

/** What is typed of an invoice beside its lines. */
export const FIELDS: DraftField[] = [
  { name: 'customer_number', label: 'Customer', description: 'Its number.' },
  { name: 'currency', label: 'Currency', description: 'Such as EUR.' },
  { name: 'invoice_date', label: 'Date', type: 'date', description: 'Empty: today.' },
  { name: 'due_date', label: 'Due', type: 'date', description: 'Empty: 14 days after the date.' },
];

/** A draft as the fields of its form. */
export function toFields(invoice: InvoiceDetails, lines: LineRow[]): Record<string, string> {
  return {
    customer_number: invoice.customer.customer_number,
    currency: invoice.currency.toUpperCase(),
    invoice_date: invoice.invoice_date,
    due_date: invoice.due_date ?? '',
    ...toLineFields(lines, invoice.currency),
  };
}

/** A new one. */
export const newFields = (customer_number: string): Record<string, string> => ({
  customer_number,
  currency: 'EUR',
  invoice_date: '',
  due_date: '',
  ...toLineFields([], 'eur'),
});
