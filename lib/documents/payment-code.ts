import { encode } from 'uqr';
import type { PrintedInvoice } from './printed-invoice';

/** Returns whether a document asks for a transfer to our account. */
export const isTransfer = ({ kind, total, collectedBy }: PrintedInvoice): boolean =>
  kind === 'invoice' && collectedBy === 'us' && Number(total) > 0;

/**
 * Returns the QR code of a SEPA transfer as rows of modules, true for black (EPC069-12, version 002). Null if the
 * invoice cannot be paid by such a transfer.
 */
export function paymentCode(printed: PrintedInvoice): boolean[][] | null {
  const { currency, total, number, seller } = printed;
  if (!isTransfer(printed) || currency !== 'eur' || !seller.iban || !seller.name) return null;
  const amount = `EUR${Number(total).toFixed(2)}`;
  const name = seller.name.slice(0, 70);
  const transfer = ['BCD', '002', '1', 'SCT', seller.bic ?? '', name, seller.iban, amount, '', '', number];
  return encode(transfer.join('\n'), { ecc: 'M', border: 0 }).data;
}
