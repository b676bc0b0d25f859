/** Where the list of customers is. */
export const PATH = '/admin/customers';
