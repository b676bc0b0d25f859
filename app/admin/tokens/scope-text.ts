import type { Scope } from '@/lib/auth/access-token';

/** What a token with a scope can do. */
export const SCOPE_TEXTS: Record<Scope, string> = {
  'mcp:read': 'Look up customers, services, servers, invoices and documents over MCP.',
  'payments:read': 'Read payments over the REST API.',
  'payments:write': 'Record, change and delete payments over the REST API; not read them.',
};
