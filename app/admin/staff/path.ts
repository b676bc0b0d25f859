/** The list of staff; a person has their id beneath. */
export const PATH = '/admin/staff';
