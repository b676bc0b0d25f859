import type { FileFormat } from '../file-format';
import { day, isMore, keyOf, sumOf } from './cells';

/**
 * Transactions, known by their ID at WHMCS: what came in is a payment of an invoice, and what went out for an earlier
 * transaction is a refund of that. Its report has the oldest first. What belongs to no invoice is refused.
 */
export const whmcsTransactions: FileFormat = {
  columns: { currency: 'currency', date: 'payment_date' },
  derived: {
    payment_reference: { of: ['id'], value: keyOf },
    invoice_import_key: { of: ['invoice id'], value: keyOf },
    customer_number: { of: ['user id'], value: (id) => (Number(id) === 0 ? '' : id) },
    refund_of: {
      of: ['refund id', 'amount out'],
      value: (id, out) => (isMore(out) ? keyOf(id) : ''),
    },
    amount: {
      of: ['amount in', 'amount out', 'refund id'],
      value: (paid, back, refunded) => sumOf(isMore(back) && keyOf(refunded) ? back : paid),
    },
  },
  values: { currency: (code) => code.trim().toLowerCase(), payment_date: day },
};
