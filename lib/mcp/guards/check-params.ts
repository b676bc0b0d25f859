import { z } from 'zod';
import { RPC, rpcError } from '../answers';
import { isStateless } from '../protocol';

const object = z.record(z.string(), z.unknown());
const text = z.string();

/** What each method needs of its params; the protocol's own messages about it speak of its insides. */
const REQUIRED: Record<string, { params: z.ZodType; says: string }> = {
  initialize: {
    params: z.looseObject({
      protocolVersion: text,
      capabilities: object,
      clientInfo: z.looseObject({ name: text, version: text }),
    }),
    says: 'initialize takes protocolVersion (text), capabilities (object) and clientInfo (name and version).',
  },
  'tools/call': {
    params: z.looseObject({ name: text, arguments: object.optional() }),
    says: "tools/call takes name (text) and arguments (an object of the tool's parameters).",
  },
};

const call = z.looseObject({ id: z.union([text, z.number()]), method: text, params: z.unknown().optional() });

/** @returns -32602 for malformed params of a method that takes some */
export function checkParams(message: unknown): Response | null {
  const request = call.safeParse(message).data;
  if (!request) return null;
  const required = Object.hasOwn(REQUIRED, request.method) ? REQUIRED[request.method] : undefined;
  if (!required || isRemoved(request.method, message) || required.params.safeParse(request.params).success)
    return null;
  return rpcError(200, RPC.invalidParams, `Invalid params: ${required.says}`, { message });
}

/** There is no `initialize` from 2026-07-28 on. */
function isRemoved(method: string, message: unknown): boolean {
  return method === 'initialize' && isStateless(message);
}
