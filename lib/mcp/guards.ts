import { isJsonContentType, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { perProcess } from '@/db/per-process';
import type { Env } from '../env';
import { AppError } from '../errors';
import { type HttpRequest, parseJson, readBody } from '../http/messages';
import { MCP_HEADERS } from '../http/oauth/open-answers';
import { READ_SCOPES } from '../oauth/metadata';
import type { Runtime } from '../runtime';
import { type Caller, insufficientScope } from './authenticate';
import {
  isInitialize,
  isStateless,
  PROTOCOL_VERSIONS,
  RPC,
  rpcError,
  STATELESS_PROTOCOL_VERSIONS,
} from './protocol';
import { TOOLS } from './tools';

const SENTENCE =
  'Method not allowed. This server speaks Streamable HTTP: POST a JSON-RPC message. A client that supports only HTTP with SSE is too old.';

const ALLOW = { Allow: 'POST, OPTIONS' };

/** Refuses methods other than POST and OPTIONS. This server has no sessions to end and no streams to open. */
export function checkMethod({ method }: HttpRequest): Response | null {
  if (method === 'POST' || method === 'OPTIONS') return null;
  const refusal = rpcError(405, RPC.refused, SENTENCE, {
    headers: ALLOW,
  });
  return method === 'HEAD' ? new Response(null, refusal) : refusal;
}

/** Responds to a CORS preflight request, whose origin `checkOrigin` has already checked. */
export function preflight(): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...ALLOW,
      // GET and DELETE are refused. They are listed here, because otherwise a page could not read the refusal.
      'Access-Control-Allow-Methods': 'POST, GET, DELETE',
      'Access-Control-Allow-Headers': MCP_HEADERS,
      'Access-Control-Max-Age': '86400',
    },
  });
}

type OriginSettings = Pick<Env, 'publicUrl' | 'mcpAllowedOrigins' | 'development'>;

const LOCAL = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Refuses web pages whose origin is not allowed, to prevent DNS rebinding. Other clients send no `Origin`.
 * https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#security-warning
 */
export function checkOrigin(request: HttpRequest, env: OriginSettings): Response | null {
  const origin = request.headers.get('origin');
  if (origin === null || isAllowed(origin, env)) return null;
  return rpcError(403, RPC.refused, 'This origin is not allowed. Add it to MCP_ALLOWED_ORIGINS.');
}

/** Returns the headers that let a page of an allowed origin read the response, including errors. */
export function corsHeaders(request: HttpRequest, env: OriginSettings): Record<string, string> {
  const origin = request.headers.get('origin');
  if (origin === null || !isAllowed(origin, env)) return { Vary: 'Origin' };
  return {
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': 'WWW-Authenticate',
  };
}

function isAllowed(origin: string, env: OriginSettings): boolean {
  const own = new URL(env.publicUrl).origin;
  if (origin === own || env.mcpAllowedOrigins.includes(origin)) return true;
  return (env.development || LOCAL.test(own)) && LOCAL.test(origin);
}

const MINUTE_MS = 60_000;

/** The rate limit of an app with all its users, as a multiple of the rate limit of one user. */
const OF_CLIENT = 5;

const counted = perProcess('mcp-rate', () => ({ minute: 0, requests: new Map<string, number>() }));

/** Counts a request in this process. @returns 429 if the caller, or its app with all users, exceeds its rate limit */
export function checkRate({ env, now }: Pick<Runtime, 'env' | 'now'>, caller: Caller): Response | null {
  const most = env.mcpRequestsPerMinute;
  if (most === 0) return null;
  const at = now().getTime();
  const minute = Math.floor(at / MINUTE_MS);
  if (minute !== counted.minute) {
    counted.minute = minute;
    counted.requests.clear();
  }
  const isOver =
    countOne(caller.key) > most || (caller.clientId !== null && countOne(caller.clientId) > most * OF_CLIENT);
  if (!isOver) return null;
  const seconds = Math.ceil(((minute + 1) * MINUTE_MS - at) / 1000);
  return rpcError(429, RPC.refused, `Too many requests. Try again in ${seconds} seconds.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

function countOne(key: string): number {
  const count = (counted.requests.get(key) ?? 0) + 1;
  counted.requests.set(key, count);
  return count;
}

const ACCEPTABLE = /^(\*\/\*|application\/(json|\*)|text\/(event-stream|\*))$/;

/** A JSON-RPC message, both parsed and as bytes. */
export interface Message {
  message: unknown;
  bytes: Uint8Array;
}

const nullArguments = z.looseObject({ params: z.looseObject({ arguments: z.null() }) });

/**
 * Reads the message in a request body. Returns an error response if the body is too large, if it is not one JSON
 * message, or if the `Content-Type` or `Accept` header does not fit.
 */
export async function readMessage(request: HttpRequest): Promise<Message | Response> {
  const bytes = await readBytes(request);
  if (bytes instanceof Response) return bytes;
  return checkContentType(request) ?? checkAccept(request) ?? parseMessage(bytes);
}

async function readBytes(request: HttpRequest): Promise<Uint8Array | Response> {
  try {
    return await readBody(request);
  } catch (error) {
    if (error instanceof AppError) return rpcError(413, RPC.refused, error.message);
    // Not expected, because `readBody` throws an AppError for a body that is too large or incomplete.
    return rpcError(400, RPC.parseError, 'The body could not be read.');
  }
}

function checkContentType(request: HttpRequest): Response | null {
  if (isJsonContentType(request.headers.get('content-type'))) return null;
  return rpcError(415, RPC.refused, 'Send the message as Content-Type: application/json.');
}

function checkAccept(request: HttpRequest): Response | null {
  const accept = request.headers.get('accept');
  if (accept === null || accept.trim() === '' || accept.split(',').some(isAcceptable)) return null;
  return rpcError(406, RPC.refused, 'Send Accept: application/json, because every answer has that type.');
}

function isAcceptable(range: string): boolean {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
  return ACCEPTABLE.test(type) && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
}

function parseMessage(bytes: Uint8Array): Message | Response {
  let message: unknown;
  try {
    message = parseJson(bytes);
  } catch {
    return rpcError(400, RPC.parseError, 'Parse error: the body is not valid JSON.');
  }
  if (Array.isArray(message)) {
    return rpcError(400, RPC.invalidRequest, 'Batches are not supported. Send one message per request.');
  }
  return withoutNullArguments(message) ?? { message, bytes };
}

/**
 * Removes `"arguments": null`, which some clients send with a call.
 *
 * @returns null if the message does not contain it
 */
function withoutNullArguments(given: unknown): Message | null {
  const { data } = nullArguments.safeParse(given);
  if (!data) return null;
  const { arguments: _, ...params } = data.params;
  const message = { ...data, params };
  return { message, bytes: Buffer.from(JSON.stringify(message)) };
}

/**
 * Checks the revision in the header of every message except `initialize`, whose body names the revision.
 *
 * @returns an error response with the supported revisions; null if the revision is supported
 */
export function checkProtocolVersion(request: HttpRequest, message: unknown): Response | null {
  if (isInitialize(message)) return null;
  const requested = request.headers.get('mcp-protocol-version');
  if (requested === null || PROTOCOL_VERSIONS.includes(requested)) return null;
  return rpcError(400, ProtocolErrorCode.UnsupportedProtocolVersion, 'Unsupported protocol version.', {
    message,
    // A stateless client tries again with a revision from this list, so offer only revisions without a session.
    data: {
      supported: isStateless(message) ? STATELESS_PROTOCOL_VERSIONS : PROTOCOL_VERSIONS,
      requested: requested.slice(0, 40),
    },
  });
}

const object = z.record(z.string(), z.unknown());

const text = z.string();
/** The schema of a method's params, with our own error message, because the SDK's messages expose internals. */
const REQUIRED: Record<string, { params: z.ZodType; expectation: string }> = {
  initialize: {
    params: z.looseObject({
      protocolVersion: text,
      capabilities: object,
      clientInfo: z.looseObject({ name: text, version: text }),
    }),
    expectation:
      'initialize takes protocolVersion (text), capabilities (object) and clientInfo (name and version).',
  },
  'tools/call': {
    params: z.looseObject({ name: text, arguments: object.optional() }),
    expectation: "tools/call takes name (text) and arguments (an object of the tool's parameters).",
  },
  'resources/read': {
    params: z.looseObject({ uri: text }),
    expectation: 'resources/read takes uri (text).',
  },
};

const anyCall = z.looseObject({
  id: z.union([text, z.number()]),
  method: text,
  params: z.unknown().optional(),
});

/** Checks the params of a request with a method in `REQUIRED`. @returns the error -32602 if they do not fit */
export function checkParams(message: unknown): Response | null {
  const request = anyCall.safeParse(message).data;
  if (!request) return null;
  const required = Object.hasOwn(REQUIRED, request.method) ? REQUIRED[request.method] : undefined;
  if (!required || isRemoved(request.method, message) || required.params.safeParse(request.params).success)
    return null;
  return rpcError(200, RPC.invalidParams, `Invalid params: ${required.expectation}`, { message });
}

/** Returns whether a method was removed from the protocol: `initialize` in the revisions since 2026-07-28. */
function isRemoved(method: string, message: unknown): boolean {
  return method === 'initialize' && isStateless(message);
}

const toolCall = z.looseObject({
  method: z.literal('tools/call'),
  params: z.looseObject({ name: z.string() }),
});

/** Checks the scope of a call. @returns 403 with the caller's scopes and the missing one */
export function checkScope(env: Pick<Env, 'publicUrl'>, caller: Caller, message: unknown): Response | null {
  if (caller.reads.length === READ_SCOPES.length) return null;
  const name = toolCall.safeParse(message).data?.params.name;
  const tool = TOOLS.find((one) => one.name === name);
  if (!tool || caller.reads.includes(tool.scope)) return null;
  return insufficientScope(env, [...caller.reads, tool.scope]);
}
