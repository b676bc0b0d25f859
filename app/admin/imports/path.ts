/** Where admins import files. */
export const PATH = '/admin/imports';
