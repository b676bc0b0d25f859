import type { CustomerSnippet } from './schema';

/** What a file says of the customer of a row. */
export const CUSTOMER_COLUMNS = ['customer_id', 'customer_number', 'customer_name'];

/** A row with its customer in columns. */
export function inColumns<Row extends { customer: CustomerSnippet }>({ customer, ...row }: Row) {
  return {
    ...row,
    customer_id: customer.id,
    customer_number: customer.customer_number,
    customer_name: customer.name,
  };
}
