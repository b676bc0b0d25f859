import { AppError } from '../errors';
import { everyMethod } from '../http/every-method';
import type { HttpRequest } from '../http/request';
import { explainFailure, type Runtime, runtimeOrError } from '../runtime';
import { answerCall } from './answer-call';
import { answerEmptyList } from './answer-empty-list';
import { RPC, rpcError } from './answers';
import type { Caller } from './caller';
import { authenticate, unavailable } from './guards/authenticate';
import { checkMethod, preflight } from './guards/check-method';
import { checkOrigin, corsHeaders } from './guards/check-origin';
import { checkParams } from './guards/check-params';
import { checkProtocolVersion } from './guards/check-protocol-version';
import { checkRate } from './guards/check-rate';
import { checkScope } from './guards/check-scope';
import { type Message, readMessage } from './guards/read-message';
import { logFailure } from './log-failure';
import { isInitialize } from './protocol';
import { serveProtocol } from './server';
import { toPlainJson } from './to-plain-json';

/** What a client says in them is agreed on by `initialize`, or not at all. */
const REVISION_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];

/** `/mcp` */
export const mcpRoute = everyMethod(handleMcpRequest);

/**
 * Answers a request to the tool server. In order: method, Origin, token, size, media types, JSON;
 * then the protocol. Every answer with a body is application/json.
 */
export async function handleMcpRequest(request: HttpRequest): Promise<Response> {
  const runtime = await runtimeOrError();
  if (runtime instanceof AppError) return unavailable(runtime.message);
  const response = await answer(runtime, request);
  const headers = { ...corsHeaders(request, runtime.env), 'Cache-Control': 'no-store' };
  for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
  return response;
}

async function answer(runtime: Runtime, request: HttpRequest): Promise<Response> {
  let message: unknown;
  try {
    const refusal = checkMethod(request) ?? checkOrigin(request, runtime.env);
    if (refusal) return refusal;
    if (request.method === 'OPTIONS') return preflight();
    const caller = await authenticate(runtime, request);
    if (caller instanceof Response) return caller;
    const tooMany = checkRate(runtime, caller);
    if (tooMany) return tooMany;
    const read = await readMessage(request);
    if (read instanceof Response) return read;
    message = read.message;
    const unfit =
      checkProtocolVersion(request, message) ??
      checkParams(message) ??
      checkScope(runtime.env, caller, message);
    if (unfit) return unfit;
    const called = answerEmptyList(request, message) ?? (await answerCall(runtime, caller, request, message));
    return called ?? (await toPlainJson(await serveProtocol(toProtocolRequest(request, caller, read))));
  } catch (caught) {
    const error = await explainFailure(runtime, caught);
    if (error instanceof AppError) return unavailable(error.message);
    return rpcError(500, RPC.internal, logFailure(runtime, error, 'tool server failed'), { message });
  }
}

/** The request again, as mcp-handler wants it: both media types accepted, the token checked. */
function toProtocolRequest(request: HttpRequest, caller: Caller, { message, bytes }: Message): Request {
  const headers = new Headers([...request.headers]);
  headers.set('Content-Type', 'application/json');
  headers.set('Accept', 'application/json, text/event-stream');
  for (const name of ['Authorization', 'Content-Length', 'Transfer-Encoding']) headers.delete(name);
  if (isInitialize(message)) for (const name of REVISION_HEADERS) headers.delete(name);
  const again = new Request(request.url, {
    method: 'POST',
    headers,
    body: new Uint8Array(bytes),
    signal: request.signal,
  });
  again.auth = { token: '', clientId: caller.tokenId, scopes: caller.reads, extra: { caller } };
  return again;
}
