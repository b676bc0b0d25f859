import type { FileFormat } from '../file-format';
import { day, isMore, keyOf, oneOf, sumOf, texts } from './cells';

const is = (wanted: string, status: string) => status.trim().toLowerCase() === wanted;

/**
 * Invoices, known by their ID in WHMCS, which its transactions name, and numbered as there. Its total is what was left
 * after credit was taken off. Nothing is owed on a refunded one.
 */
export const whmcsInvoices: FileFormat = {
  ...texts,
  columns: {
    'user id': 'customer_number',
    'creation date': 'invoice_date',
    'due date': 'due_date',
    subtotal: 'subtotal',
    status: 'status',
  },
  derived: {
    import_key: { of: ['id'], value: ([id = '']) => keyOf(id) },
    // A draft has no number yet. If invoices are not numbered, customers see the ID.
    number: {
      of: ['invoice number', 'id', 'status'],
      value: ([number = '', id = '', status = '']) => (is('draft', status) ? '' : number.trim() || id.trim()),
    },
    tax: { of: ['tax', 'tax2'], value: sumOf },
    total: { of: ['total', 'credit'], value: sumOf },
    amount_paid: {
      of: ['status', 'credit'],
      value: ([status = '', credit = ''], separator) =>
        isOpen(status) && isMore(credit, separator) ? sumOf([credit], separator) : '',
    },
    paid_at: {
      of: ['date paid', 'status'],
      value: ([paid = '', status = '']) => (is('paid', status) ? day(paid) : ''),
    },
  },
  values: {
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
