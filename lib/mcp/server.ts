import type { AuthInfo } from '@modelcontextprotocol/server';
import { createMcpHandler } from 'mcp-handler';
import { getRuntime } from '../runtime';
import { callTool } from './call-tool';
import type { Caller } from './caller';
import { INSTRUCTIONS, SERVER_INFO, SESSION_PROTOCOL_VERSIONS } from './protocol';
import { listTools } from './tools';

const LIST_TTL_MS = 300_000;

/**
 * The protocol itself, both generations of it; what comes in has passed the guards.
 *
 * The handlers sit on the low-level server: registerTool would convert every schema again for each
 * request, and answer a thrown error with its message.
 */
export const serveProtocol = createMcpHandler(
  ({ server }) => {
    server.setRequestHandler('tools/list', (_, { http }) => listTools(callerOf(http?.authInfo)));
    server.setRequestHandler('tools/call', async ({ params }, { http }) =>
      callTool(await getRuntime(), callerOf(http?.authInfo), params),
    );
  },
  {
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
    capabilities: { tools: { listChanged: false } },
    supportedProtocolVersions: SESSION_PROTOCOL_VERSIONS,
    // As long as a version runs, its tools stay the same. Which of them are listed depends on the caller.
    cacheHints: { 'tools/list': { ttlMs: LIST_TTL_MS, cacheScope: 'private' } },
    // Nothing here ever changes its list, so a stream of changes would only hold a connection.
    maxSubscriptions: 0,
    // Asked only for forms that a server sends to people, which this one never does.
    jsonSchemaValidator: {
      getValidator: () => {
        throw new Error('this server validates no JSON Schema');
      },
    },
  },
);

/** Whom the guards have let in. */
function callerOf(authInfo: AuthInfo | undefined): Caller {
  const caller = authInfo?.extra?.caller;
  if (!caller) throw new Error('a request has passed the guards without a caller');
  return caller as Caller;
}
