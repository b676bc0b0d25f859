/**
 * From the top down. A file may import its own folder and what stands on a lower line; what stands on
 * one line does not know each other.
 */
export const LAYERS: string[][] = [
  ['app', 'lib/cli'],
  ['lib/server', 'lib/stripe-local'],
  ['lib/mcp', 'lib/openapi'],
  ['lib/http', 'lib/overview'],
  ['lib/uploads'],
  ['lib/commands'],
  ['lib/erasure', 'lib/exports', 'lib/imports'],
  ['lib/health', 'lib/search', 'lib/timeline'],
  ['lib/auth'],
  ['lib/sync'],
  ['lib/oauth', 'lib/tool-calls'],
  ['lib/payments', 'lib/subscriptions', 'lib/sales-documents'],
  ['lib/invoices'],
  ['lib/services'],
  ['lib/customers', 'lib/servers'],
  ['lib/records'],
  ['lib/audit', 'lib/counted-list'],
  ['lib/runtime.ts'],
  ['lib/stripe'],
  ['lib/*.ts'],
  ['db'],
];

/** The rooms of the staff pages' parts, from the top down. None of them knows a page, but for its `path.ts`. */
export const PAGE_ROOMS = ['shell', 'search', 'audit', 'forms', 'records', 'lists', 'page', 'display'];

/** What knows no framework and no door: they answer REST, MCP, pages and commands alike. */
export const DOMAINS = [
  'lib/audit',
  'lib/counted-list',
  'lib/customers',
  'lib/erasure',
  'lib/exports',
  'lib/health',
  'lib/imports',
  'lib/invoices',
  'lib/overview',
  'lib/payments',
  'lib/records',
  'lib/sales-documents',
  'lib/servers',
  'lib/search',
  'lib/services',
  'lib/stripe',
  'lib/subscriptions',
  'lib/sync',
  'lib/timeline',
];

/** Pure leaves without imports of ours, which sample data is computed with too. */
export const BELOW_DB = ['lib/dates.ts', 'lib/money.ts', 'lib/overdue.ts'];

/** The folder that rules speak of: `app`, `db`, `lib/payments`; single files of lib are `lib/*.ts`. */
export function roomOf(path: string): string {
  if (path === 'lib/runtime.ts') return path;
  const [top = '', room, file] = path.split('/');
  if (top !== 'lib') return top;
  return file === undefined ? 'lib/*.ts' : `lib/${room}`;
}

export function isOurs(target: string): boolean {
  return /^(app|lib|db|tests)\//.test(target);
}
