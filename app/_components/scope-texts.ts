import type { ReadScope } from '@/lib/oauth/metadata';
import type { GrantedScope } from '@/lib/tokens/access-token';

/** The label of each read scope, and the data that it lets a client read. */
export const READ_TEXTS: Record<ReadScope, { label: string; text: string }> = {
  'customers:read': { label: 'Customers', text: 'Names, contact details and services, without prices.' },
  'billing:read': {
    label: 'Billing',
    text: 'Invoices, offers, order confirmations, and what services cost.',
  },
  'servers:read': { label: 'Servers', text: 'Hostnames, addresses and what runs on them.' },
};

/** The sentence that explains the effect of hiding personal data. */
export const HIDES_TEXT =
  'Answers show no names, e-mail addresses, streets, phone numbers or domains, and customers can be found only by their number.';

/** For each scope, the sentence that says what a token with this scope can do. */
export const SCOPE_TEXTS: Record<GrantedScope, string> = {
  'mcp:read': 'Look up customers, services, servers, invoices and documents over MCP.',
  'payments:read': 'Read payments over the REST API.',
  'payments:write': 'Record, change and delete payments over the REST API, but not read them.',
  'customers:read': 'Part of mcp:read: only customers and their services, without prices.',
  'billing:read':
    'Part of mcp:read: only invoices, offers and order confirmations, and what services cost. Also download the documents of invoices over the REST API.',
  'servers:read': 'Part of mcp:read: only servers.',
};
