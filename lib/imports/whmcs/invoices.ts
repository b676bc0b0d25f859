import type { FileFormat } from '../file-format';
import { day, isMore, keyOf, oneOf, sumOf } from './cells';

const is = (wanted: string, status: string) => status.trim().toLowerCase() === wanted;

/**
 * Invoices, known by their ID at WHMCS, which its transactions name, and numbered as there. Its total is what was left
 * after credit was taken off. One that was refunded is owed no more.
 */
export const whmcsInvoices: FileFormat = {
  columns: {
    'user id': 'customer_number',
    'creation date': 'invoice_date',
    'due date': 'due_date',
    subtotal: 'subtotal',
    status: 'status',
  },
  derived: {
    import_key: { of: ['id'], value: keyOf },
    // A draft has no number yet; where invoices are not numbered, the ID is what customers see.
    number: {
      of: ['invoice number', 'id', 'status'],
      value: (number, id, status) => (is('draft', status) ? '' : number.trim() || id.trim()),
    },
    tax: { of: ['tax', 'tax2'], value: sumOf },
    total: { of: ['total', 'credit'], value: sumOf },
    amount_paid: {
      of: ['status', 'credit'],
      value: (status, credit) => (isOpen(status) && isMore(credit) ? sumOf(credit) : ''),
    },
    paid_at: { of: ['date paid', 'status'], value: (paid, status) => (is('paid', status) ? day(paid) : '') },
  },
  values: {
    subtotal: (cell) => sumOf(cell),
    invoice_date: day,
    due_date: day,
    status: oneOf({
      draft: 'draft',
      unpaid: 'sent',
      'payment pending': 'sent',
      collections: 'sent',
      paid: 'paid',
      cancelled: 'cancelled',
      refunded: 'cancelled',
    }),
  },
};

const isOpen = (status: string) =>
  ['unpaid', 'payment pending', 'collections'].some((one) => is(one, status));
