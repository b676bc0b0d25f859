import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import * as mcpRoute from '@/app/mcp/route';
import { commandActor } from '@/lib/audit/record-audit';
import type { Scope } from '@/lib/auth/tokens/access-token';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { setRuntime } from '@/lib/runtime';
import { useDatabase } from '../support/database';
import { type TestRuntime, testRuntime } from '../support/runtime';
import { serveRoutes } from '../support/serve-routes';

export interface McpServer {
  readonly url: URL;
  readonly db: TestRuntime['db'];
  readonly runtime: TestRuntime;
  /** A token with the scope mcp:read. */
  readonly token: string;
  /** Lines the runtime has logged. */
  readonly logged: Record<string, unknown>[];
  newToken(scopes: Scope[], expires_at?: Date): Promise<{ id: number; token: string }>;
  post(body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** One request of the 2025 protocols; its answer. */
  rpc(method: string, params?: unknown): Promise<RpcAnswer>;
  callTool(name: string, args?: unknown): Promise<ToolAnswer>;
}

export interface RpcAnswer {
  id: unknown;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

export interface ToolAnswer {
  isError?: boolean;
  content: { type: string; text: string }[];
  structuredContent?: Record<string, unknown>;
}

/** The tool server over HTTP on a database of its own, for the tests of a file. */
export function useMcpServer(options: { env?: Record<string, string> } = {}): McpServer {
  const base = useDatabase();
  const logged: Record<string, unknown>[] = [];
  let started: { runtime: TestRuntime; url: string; token: string; close(): Promise<void> } | undefined;
  const server = () => {
    if (!started) throw new Error('the server runs only inside tests');
    return started;
  };

  beforeAll(async () => {
    const runtime = { ...testRuntime(base.db, options), log: pino({ level: 'debug' }, lines(logged)) };
    setRuntime(runtime);
    const served = await serveRoutes({ '/mcp': mcpRoute });
    const { token } = await issue(runtime, ['mcp:read']);
    started = { runtime, url: served.url, token, close: served.close };
  });
  afterAll(async () => {
    await started?.close();
    setRuntime(undefined);
  });

  const mcp: McpServer = {
    get url() {
      return new URL('/mcp', server().url);
    },
    get db() {
      return base.db;
    },
    get runtime() {
      return server().runtime;
    },
    get token() {
      return server().token;
    },
    logged,
    newToken: (scopes, expires_at) => issue(server().runtime, scopes, expires_at),
    post: (body, headers = {}) =>
      fetch(mcp.url, {
        method: 'POST',
        headers: { authorization: `Bearer ${mcp.token}`, 'content-type': 'application/json', ...headers },
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

function issue(runtime: TestRuntime, scopes: Scope[], expires_at: Date | null = null) {
  const token = { name: 'test', scopes, expires_at, created_by: commandActor('test') };
  return createAccessToken(runtime.db, token, runtime.randomBytes);
}

function lines(into: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      into.push(JSON.parse(String(chunk)));
      done();
    },
  });
}
