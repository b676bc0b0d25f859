import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { HttpRequest } from '@/lib/http/request';
import { rpcError } from '../answers';
import { PROTOCOL_VERSIONS } from '../protocol';

/** @returns the error that tells a client which revisions it may fall back to */
export function checkProtocolVersion(request: HttpRequest, message: unknown): Response | null {
  const requested = request.headers.get('mcp-protocol-version');
  if (requested === null || PROTOCOL_VERSIONS.includes(requested)) return null;
  return rpcError(400, ProtocolErrorCode.UnsupportedProtocolVersion, 'Unsupported protocol version.', {
    message,
    data: { supported: PROTOCOL_VERSIONS, requested: requested.slice(0, 40) },
  });
}
