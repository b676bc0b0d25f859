/** Where the list of payments is. */
export const PATH = '/admin/payments';
