import { ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { HttpRequest } from '@/lib/http/request';
import { rpcError } from '../answers';
import { isInitialize, isStateless, PROTOCOL_VERSIONS, STATELESS_PROTOCOL_VERSIONS } from '../protocol';

/**
 * Checks the header of every method but `initialize`, whose body names the revision: no revision is agreed on before.
 *
 * @returns the error that tells a client which revisions it may fall back to
 */
export function checkProtocolVersion(request: HttpRequest, message: unknown): Response | null {
  if (isInitialize(message)) return null;
  const requested = request.headers.get('mcp-protocol-version');
  if (requested === null || PROTOCOL_VERSIONS.includes(requested)) return null;
  return rpcError(400, ProtocolErrorCode.UnsupportedProtocolVersion, 'Unsupported protocol version.', {
    message,
    // A client that did not initialize compares them with those of server/discover.
    data: {
      supported: isStateless(message) ? STATELESS_PROTOCOL_VERSIONS : PROTOCOL_VERSIONS,
      requested: requested.slice(0, 40),
    },
  });
}
