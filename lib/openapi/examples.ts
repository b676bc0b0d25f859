/** A payment as programs send one. */
export const PAYMENT_BODY = {
  invoice_id: 1,
  customer_id: 1,
  amount: 119,
  payment_date: '2026-03-10',
  payment_reference: 'BANK-2026-0310',
};
