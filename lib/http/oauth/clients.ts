import type { Env } from '../../env';
import { resourceOf } from '../../oauth/metadata';

/** The properties of an MCP client that affect its connection to a server. */
export interface ClientTraits {
  name: string;
  /** How the client is registered: by the metadata document at this URL, by itself, or by an admin. */
  registers: { document: string } | 'itself' | 'by hand';
  /** Whether the client runs on its vendor's servers, which can reach only public https URLs. */
  isHosted: boolean;
  redirect: string;
  /** How the client writes `resource` (RFC 8707). */
  resource: 'exact' | 'slash' | 'origin' | 'none';
  /** The client's User-Agent. A proxy may block it. */
  userAgent: string;
  /** The protocol revision that the client sends. */
  revision: '2025-06-18' | '2025-11-25' | '2026-07-28';
}

/** Returns `resource` as the client sends it. Returns null if it does not send `resource`. */
export function resourceParameter({ resource }: ClientTraits, env: Pick<Env, 'publicUrl'>): string | null {
  const own = resourceOf(env);
  const written = { exact: own, slash: `${own}/`, origin: new URL(own).origin, none: null };
  return written[resource];
}

/** Default traits, those of a client that runs on a person's own machine and behaves like the official SDK. */
const USUAL = { isHosted: false, resource: 'exact', revision: '2025-11-25' } as const;

/**
 * MCP clients as of autumn 2026. Each value comes from the client's docs, source or metadata, otherwise from the
 * official SDK.
 */
export const CLIENTS: ClientTraits[] = [
  {
    ...USUAL,
    name: 'claude.ai',
    userAgent: 'Claude-User',
    registers: { document: 'https://claude.ai/oauth/mcp-oauth-client-metadata' },
    isHosted: true,
    redirect: 'https://claude.ai/api/mcp/auth_callback',
  },
  {
    ...USUAL,
    name: 'ChatGPT',
    userAgent: 'openai-mcp/1.0.0',
    registers: { document: 'https://chatgpt.com/oauth/client.json' },
    isHosted: true,
    redirect: 'https://chatgpt.com/connector_platform_oauth_redirect',
  },
  {
    ...USUAL,
    name: 'Claude Code',
    userAgent: 'claude-code/2.1.332 (cli)',
    registers: { document: 'https://claude.ai/oauth/claude-code-client-metadata' },
    redirect: 'http://localhost:54545/callback',
  },
  {
    ...USUAL,
    name: 'Cursor',
    userAgent: 'node',
    registers: 'itself',
    redirect: 'http://localhost:8787/callback',
  },
  {
    ...USUAL,
    name: 'VS Code',
    userAgent: 'node',
    registers: { document: 'https://vscode.dev/oauth/client-metadata.json' },
    redirect: 'http://127.0.0.1:33418/',
  },
  {
    ...USUAL,
    name: 'Codex',
    userAgent: 'codex-mcp-client/0.171.0',
    registers: { document: 'https://chatgpt.com/oauth/codex/client.json' },
    redirect: 'http://127.0.0.1:54545/callback',
    revision: '2026-07-28',
  },
  {
    ...USUAL,
    name: 'Gemini CLI',
    userAgent: 'node',
    registers: 'itself',
    redirect: 'http://localhost:7777/oauth/callback',
    resource: 'origin', // Older releases send the origin. The current release sends the exact URL.
  },
  {
    ...USUAL,
    name: 'Gemini Enterprise',
    userAgent: 'Google-Gemini-Enterprise',
    registers: 'by hand',
    isHosted: true,
    redirect: 'https://vertexaisearch.cloud.google.com/oauth-redirect',
    resource: 'none',
  },
  {
    ...USUAL,
    name: 'Copilot Studio',
    userAgent: 'node',
    registers: 'itself',
    isHosted: true,
    redirect: 'https://global.consent.azure-apim.net/redirect/connection-check',
    resource: 'none',
  },
  {
    ...USUAL,
    name: 'Other clients',
    userAgent: 'node',
    registers: 'itself',
    redirect: 'http://127.0.0.1:1/callback',
    resource: 'slash',
    revision: '2025-06-18',
  },
];
