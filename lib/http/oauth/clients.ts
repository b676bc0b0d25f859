import type { Env } from '../../env';
import { resourceOf } from '../../oauth/metadata';

/** The differences between clients that a server can see. */
export interface ClientTraits {
  name: string;
  /** By the metadata document at this address; by itself; or by an admin. */
  registers: { document: string } | 'itself' | 'by hand';
  /** Calls from its vendor's servers, which reach public https addresses alone. */
  isHosted: boolean;
  redirect: string;
  /** How it writes `resource` (RFC 8707). */
  resource: 'exact' | 'slash' | 'origin' | 'none';
  /** How its requests name their program. Proxies block some of them. */
  userAgent: string;
  /** The protocol revision that it sends. */
  revision: '2025-06-18' | '2025-11-25' | '2026-07-28';
}

const LATEST_SESSION = '2025-11-25';

/**
 * As the clients were in autumn 2026, by their documentation, sources and metadata documents. If neither
 * states `resource` or the revision, the official SDK's values stand here.
 */
export const CLIENTS: ClientTraits[] = [
  {
    name: 'claude.ai',
    userAgent: 'Claude-User',
    registers: { document: 'https://claude.ai/oauth/mcp-oauth-client-metadata' },
    isHosted: true,
    redirect: 'https://claude.ai/api/mcp/auth_callback',
    resource: 'exact',
    revision: LATEST_SESSION,
  },
  {
    name: 'ChatGPT',
    userAgent: 'openai-mcp/1.0.0',
    registers: { document: 'https://chatgpt.com/oauth/client.json' },
    isHosted: true,
    redirect: 'https://chatgpt.com/connector_platform_oauth_redirect',
    resource: 'exact',
    revision: LATEST_SESSION,
  },
  {
    name: 'Claude Code',
    userAgent: 'claude-code/2.1.332 (cli)',
    registers: { document: 'https://claude.ai/oauth/claude-code-client-metadata' },
    isHosted: false,
    redirect: 'http://localhost:54545/callback',
    resource: 'exact',
    revision: LATEST_SESSION,
  },
  {
    name: 'Cursor',
    userAgent: 'node',
    registers: 'itself',
    isHosted: false,
    redirect: 'http://localhost:8787/callback',
    resource: 'exact',
    revision: LATEST_SESSION,
  },
  {
    name: 'VS Code',
    userAgent: 'node',
    registers: { document: 'https://vscode.dev/oauth/client-metadata.json' },
    isHosted: false,
    redirect: 'http://127.0.0.1:33418/',
    resource: 'exact',
    revision: LATEST_SESSION,
  },
  {
    name: 'Codex',
    userAgent: 'codex-mcp-client/0.171.0',
    registers: { document: 'https://chatgpt.com/oauth/codex/client.json' },
    isHosted: false,
    redirect: 'http://127.0.0.1:54545/callback',
    resource: 'exact',
    revision: '2026-07-28',
  },
  {
    name: 'Gemini CLI',
    userAgent: 'node',
    registers: 'itself',
    isHosted: false,
    redirect: 'http://localhost:7777/oauth/callback',
    resource: 'origin', // its older releases; today's send the exact address
    revision: LATEST_SESSION,
  },
  {
    name: 'Gemini Enterprise',
    userAgent: 'Google-Gemini-Enterprise',
    registers: 'by hand',
    isHosted: true,
    redirect: 'https://vertexaisearch.cloud.google.com/oauth-redirect',
    resource: 'none',
    revision: LATEST_SESSION,
  },
  {
    name: 'Copilot Studio',
    userAgent: 'node',
    registers: 'itself',
    isHosted: true,
    redirect: 'https://global.consent.azure-apim.net/redirect/connection-check',
    resource: 'none',
    revision: LATEST_SESSION,
  },
  {
    name: 'Other clients',
    userAgent: 'node',
    registers: 'itself',
    isHosted: false,
    redirect: 'http://127.0.0.1:1/callback',
    resource: 'slash',
    revision: '2025-06-18',
  },
];

/** The parameter as the client sends it; null: it sends none. */
export function resourceParameter({ resource }: ClientTraits, env: Pick<Env, 'publicUrl'>): string | null {
  const own = resourceOf(env);
  const written = { exact: own, slash: `${own}/`, origin: new URL(own).origin, none: null };
  return written[resource];
}
