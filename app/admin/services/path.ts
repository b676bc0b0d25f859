/** Where the list of services is. */
export const PATH = '/admin/services';
