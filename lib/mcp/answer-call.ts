import { ProtocolError } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { HttpRequest } from '../http/request';
import type { Runtime } from '../runtime';
import { rpcError } from './answers';
import { callTool } from './call-tool';
import type { Caller } from './caller';
import { isStateless, SESSION_PROTOCOL_VERSIONS } from './protocol';

const callMessage = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.string(),
    arguments: z.record(z.string(), z.unknown()).optional(),
    _meta: z.looseObject({ progressToken: z.union([z.string(), z.int()]).optional() }).optional(),
  }),
});

/**
 * Answers a well-formed tools/call of the 2025 protocols, the most frequent request, without a server object and an event
 * stream, which would cost more than the query.
 *
 * @returns null for any other request, which mcp-handler answers
 */
export async function answerCall(
  runtime: Runtime,
  caller: Caller,
  request: HttpRequest,
  message: unknown,
): Promise<Response | null> {
  const version = request.headers.get('mcp-protocol-version');
  if (version !== null && !SESSION_PROTOCOL_VERSIONS.includes(version)) return null;
  const call = callMessage.safeParse(message).data;
  if (!call || isStateless(message)) return null;
  try {
    const result = await callTool(runtime, caller, call.params);
    return Response.json({ result, jsonrpc: '2.0', id: call.id });
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return rpcError(200, error.code, error.message, { message });
  }
}
