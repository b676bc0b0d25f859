import { namesStripeMoney } from '../../payments/stripe-payment';
import type { DecimalSeparator } from '../../read-amount';
import type { FileFormat, Translated } from '../file-format';
import type { CellValue } from '../read-cell';
import { currency, day, isMore, keyOf, sumOf, texts } from './cells';

/**
 * Transactions: money that came in is a payment of an invoice, and money that went out for an earlier transaction is a
 * refund of it. The report has the oldest first, so that the reference of what is refunded is known. Transactions
 * without an invoice are refused.
 */
export function whmcsTransactions(): FileFormat {
  const references = new Map<string, string>();
  return {
    ...texts,
    columns: { currency: 'currency', date: 'payment_date' },
    derived: {
      payment_reference: {
        of: ['id', 'transaction id', 'amount out'],
        value: ([id = '', transaction = '', out = ''], separator) => {
          const reference = referenceOf(id, transaction.trim(), isMore(out, separator));
          references.set(id.trim(), reference);
          return reference;
        },
      },
      import_key: { of: ['id'], value: ([id = '']) => keyOf(id) },
      invoice_import_key: { of: ['invoice id'], value: ([id = '']) => keyOf(id) },
      customer_number: { of: ['user id'], value: ([id = '']) => (Number(id) === 0 ? '' : id) },
      refund_of: {
        of: ['refund id', 'amount out'],
        value: ([id = '', out = ''], separator) =>
          isMore(out, separator) ? (references.get(id.trim()) ?? keyOf(id)) : '',
      },
      amount: { of: ['amount in', 'amount out', 'refund id'], value: amountOf },
      refunded_amount: { of: ['amount in', 'amount out'], value: cameBack },
    },
    values: { currency, payment_date: day },
  };
}

/**
 * The id that the gateway gave, if it is Stripe's, so that what Stripe reports of the money finds the payment. Other ids
 * may be typed by people and occur twice: they follow the key.
 */
function referenceOf(id: string, transaction: string, isRefund: boolean): string {
  return namesStripeMoney(transaction) && !isRefund ? transaction : `${keyOf(id)} ${transaction}`.trim();
}

function amountOf([paid = '', back = '', refunded = '']: string[], separator: DecimalSeparator | undefined) {
  if (!isMore(back, separator)) return sumOf([paid], separator);
  const isRefund = keyOf(refunded) !== '';
  if (isRefund && isMore(paid, separator)) return BOTH;
  if (!isRefund && !isMore(paid, separator)) return NO_REFUND;
  return sumOf([isRefund ? back : paid], separator);
}

/** Of a row with money in both directions, the part that went out came back from its own payment. */
function cameBack([paid = '', back = '']: string[], separator: DecimalSeparator | undefined): Translated {
  return isMore(paid, separator) && isMore(back, separator) ? sumOf([back], separator) : '';
}

const BOTH: CellValue = {
  problem: 'has money in both directions, and a Refund ID: enter it as two transactions',
};
const NO_REFUND: CellValue = { problem: 'went out, and no Refund ID says which transaction it refunds' };
