import { z } from 'zod';
import type { HttpRequest } from '../http/request';
import { isStateless, SESSION_PROTOCOL_VERSIONS } from './protocol';

const listMessage = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.enum(['resources/list', 'resources/templates/list', 'prompts/list']),
});

const EMPTY = {
  'resources/list': { resources: [] },
  'resources/templates/list': { resourceTemplates: [] },
  'prompts/list': { prompts: [] },
};

/**
 * Answers lists that this server does not have and `initialize` does not announce. Some clients ask for them
 * regardless, and take an error for a broken server. From 2026-07-28 on a server must not answer what it does not
 * announce.
 *
 * @returns null for any other message
 */
export function answerEmptyList(request: HttpRequest, message: unknown): Response | null {
  const version = request.headers.get('mcp-protocol-version');
  if (isStateless(message) || (version !== null && !SESSION_PROTOCOL_VERSIONS.includes(version))) return null;
  const asked = listMessage.safeParse(message).data;
  return asked ? Response.json({ result: EMPTY[asked.method], jsonrpc: '2.0', id: asked.id }) : null;
}
