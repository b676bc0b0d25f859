import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Database } from '@/db/database';
import { commandActor } from '@/lib/audit/record-audit';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';

/** A token for the tools. */
export async function issueToolsToken(db: Database): Promise<string> {
  const token = { name: 'Tools', scopes: ['mcp:read' as const], expires_at: null };
  return (await createAccessToken(db, { ...token, created_by: commandActor('test') }, randomBytes)).token;
}

/** Asks a site's tools by the official client. @returns what a call answers */
export async function connectTools(url: string, token: string) {
  const client = new Client({ name: 'test-client', version: '1.0.0' });
  const headers = { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { requestInit: { headers } }));
  return {
    async call(name: string, args: Record<string, unknown>): Promise<unknown> {
      return (await client.callTool({ name, arguments: args })).structuredContent;
    },
    close: () => client.close(),
  };
}
