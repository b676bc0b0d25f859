import { beforeAll } from 'vitest';
import * as mcpRoute from '@/app/mcp/route';
import type { Database } from '@/db/database';
import { type Api, useApi } from '../support/api';

export interface McpServer extends Pick<Api, 'runtime' | 'newToken' | 'logged'> {
  readonly url: URL;
  readonly db: Database;
  /** An access token with the scope mcp:read. */
  readonly token: string;
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends one request of the 2025 protocols. @returns the response */
  rpc(method: string, params?: unknown): Promise<RpcAnswer>;
  callTool(name: string, args?: unknown): Promise<ToolAnswer>;
}

export interface RpcAnswer {
  id: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

interface ToolAnswer {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
}

/** Serves the MCP endpoint over HTTP on an empty database. */
export function useMcpServer(env: Record<string, string> = {}): McpServer {
  const api = useApi({ '/mcp': mcpRoute }, env, { withLog: true });
  let token = '';
  beforeAll(async () => {
    token = await api.token('mcp:read');
  });

  const mcp: McpServer = {
    get url() {
      return new URL('/mcp', api.url);
    },
    get db() {
      return api.runtime.db;
    },
    get runtime() {
      return api.runtime;
    },
    get token() {
      return token;
    },
    get logged() {
      return api.logged;
    },
    newToken: (...given) => api.newToken(...given),
    post: (body, headers = {}) =>
      fetch(mcp.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    rpc: async (method, params) => {
      const response = await mcp.post({ jsonrpc: '2.0', id: 1, method, params });
      return (await response.json()) as RpcAnswer;
    },
    callTool: async (name, args) => {
      const { result } = await mcp.rpc('tools/call', { name, arguments: args });
      return result as unknown as ToolAnswer;
    },
  };
  return mcp;
}
