/** The list of access tokens; one has its number beneath. */
export const PATH = '/admin/tokens';
