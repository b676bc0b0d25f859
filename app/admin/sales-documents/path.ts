/** Where staff browse sales documents. */
export const PATH = '/admin/sales-documents';
