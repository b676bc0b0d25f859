/** What the search looks through, to follow a verb. */
export const SEARCHED =
  'customers by name, number or e-mail address, words in any order; invoices, services and sales documents by the beginning or end of their number; payments by any part of their reference; invoices and payments by amount (392.00); services by domain; servers by name, address or location; and everything by Stripe ID or #ID.';
