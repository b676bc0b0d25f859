import type { GrantedScope } from '@/lib/auth/tokens/access-token';

/** What a token with a scope can do. */
export const SCOPE_TEXTS: Record<GrantedScope, string> = {
  'mcp:read': 'Look up customers, services, servers, invoices and documents over MCP.',
  'payments:read': 'Read payments over the REST API.',
  'payments:write': 'Record, change and delete payments over the REST API, but not read them.',
  'customers:read': 'Part of mcp:read: only customers and their services, without prices.',
  'billing:read': 'Part of mcp:read: only invoices, offers and order confirmations, and what services cost.',
  'servers:read': 'Part of mcp:read: only servers.',
};
