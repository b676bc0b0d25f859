import { beforeAll, expect } from 'vitest';
import * as mcpRoute from '@/app/mcp/route';
import { useApi } from '../support/api';

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

/** Serves the MCP endpoint over HTTP on an empty database. Its `token` has the scope mcp:read. */
export function useMcpServer(env: Record<string, string> = {}) {
  const api = useApi({ '/mcp': mcpRoute }, env, { withLog: true });
  let token = '';
  beforeAll(async () => {
    token = await api.token('mcp:read');
  });

  const mcp = {
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
    newToken: (...given: Parameters<typeof api.newToken>) => api.newToken(...given),
    post: (body: unknown, headers: Record<string, string> = {}) =>
      fetch(mcp.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Sends one request of a protocol before 2026-07-28. @returns the response */
    rpc: async (method: string, params?: unknown) => {
      const response = await mcp.post({ jsonrpc: '2.0', id: 1, method, params });
      return (await response.json()) as RpcAnswer;
    },
    callTool: async (name: string, args?: unknown) => {
      const { result } = await mcp.rpc('tools/call', { name, arguments: args });
      return result as unknown as ToolAnswer;
    },
    /** Calls a tool that has to succeed. @returns the structured content */
    ask: async <Content = Record<string, unknown>>(name: string, args?: unknown) => {
      const { isError, content, structuredContent } = await mcp.callTool(name, args);
      expect(isError ? content : []).toEqual([]);
      return structuredContent as Content;
    },
    /** Calls a tool that has to report an error. @returns the text of the error */
    refusalOf: async (name: string, args?: unknown) => {
      const { content, ...rest } = await mcp.callTool(name, args);
      expect(rest).toEqual({ isError: true });
      return content.map((block) => block.text).join();
    },
  };
  return mcp;
}
