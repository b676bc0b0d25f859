/** Where the list of servers is. */
export const PATH = '/admin/servers';
