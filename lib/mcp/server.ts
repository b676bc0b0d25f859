import { createMcpHandler } from 'mcp-handler';
import { getRuntime } from '../runtime';
import { callTool } from './call-tool';
import { INSTRUCTIONS, SERVER_INFO, SESSION_PROTOCOL_VERSIONS } from './protocol';
import { TOOLS } from './tools';

const TOOL_LIST = { tools: TOOLS.map((tool) => tool.wire) };

/**
 * The protocol itself, both generations of it; what comes in has passed the guards.
 *
 * The handlers sit on the low-level server: registerTool would convert every schema again for each
 * request, and answer a thrown error with its message.
 */
export const serveProtocol = createMcpHandler(
  ({ server }) => {
    server.setRequestHandler('tools/list', () => TOOL_LIST);
    server.setRequestHandler('tools/call', async ({ params }, { http }) =>
      callTool(await getRuntime(), http?.authInfo?.clientId ?? 'unknown', params),
    );
  },
  {
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
    capabilities: { tools: { listChanged: false } },
    supportedProtocolVersions: SESSION_PROTOCOL_VERSIONS,
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
