/** One's own login. */
export const PATH = '/admin/account';
