/** Where staff browse invoices. */
export const PATH = '/admin/invoices';
