import {
  type AuthInfo,
  type CallToolResult,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { createMcpHandler } from 'mcp-handler';
import { z } from 'zod';
import { perProcess } from '@/db/per-process';
import type { toolCallOutcome } from '@/db/schema';
import { AppError } from '../errors';
import { everyMethod, type HttpRequest } from '../http/messages';
import { MAX_ID } from '../page';
import { explainFailure, getRuntime, type Runtime, runtimeOrError } from '../runtime';
import { recordToolCall, shortenArguments } from '../tool-calls/tool-calls';
import { inSpan } from '../tracing';
import { authenticate, type Caller, unavailable } from './authenticate';
import {
  checkMethod,
  checkOrigin,
  checkParams,
  checkProtocolVersion,
  checkRate,
  checkScope,
  corsHeaders,
  type Message,
  preflight,
  readMessage,
} from './guards';
import {
  INSTRUCTIONS,
  isInitialize,
  isStateless,
  logFailure,
  RPC,
  rpcError,
  SESSION_PROTOCOL_VERSIONS,
  serverInfo,
} from './protocol';
import { listResources, listTools, readResource, TOOLS } from './tools';

/** Headers that are removed from an `initialize` request, because its body negotiates the revision. */
const REVISION_HEADERS = ['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'];

/** Handlers of `/mcp`. */
export const mcpRoute = everyMethod(handleMcpRequest);

/**
 * Responds to a request to the MCP server. The checks run in this order: method, Origin, token, rate, size, media
 * types, JSON, protocol revision, params, scope. Every response with a body is application/json.
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
    const called = answerPrompts(request, message) ?? (await answerCall(runtime, caller, request, message));
    return (
      called ??
      (await toPlainJson(await protocolAt(runtime.env.publicUrl)(toProtocolRequest(request, caller, read))))
    );
  } catch (caught) {
    const error = await explainFailure(runtime, caught);
    if (error instanceof AppError) return unavailable(error.message);
    return rpcError(500, RPC.internal, logFailure(runtime, error, 'tool server failed'), { message });
  }
}

/** Builds the request for mcp-handler. It accepts both media types, and contains the caller instead of the token. */
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

const promptsMessage = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.int()]),
  method: z.literal('prompts/list'),
});

/**
 * Responds with an empty list to a request for prompts, which this server does not have. Some clients request them
 * although `initialize` does not announce them, and consider the server broken if they get an error. From 2026-07-28
 * on, a server must not respond to methods that it does not announce.
 *
 * @returns null for any other message
 */
function answerPrompts(request: HttpRequest, message: unknown): Response | null {
  const asked = isOfSession(request, message) ? promptsMessage.safeParse(message).data : undefined;
  return asked ? Response.json({ result: { prompts: [] }, jsonrpc: '2.0', id: asked.id }) : null;
}

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
 * Responds to a well-formed tools/call of a session revision without mcp-handler. This is the most frequent request,
 * and mcp-handler's server object and event stream would cost more than the query.
 *
 * @returns null for any other request; mcp-handler responds to it
 */
async function answerCall(
  runtime: Runtime,
  caller: Caller,
  request: HttpRequest,
  message: unknown,
): Promise<Response | null> {
  const call = isOfSession(request, message) ? callMessage.safeParse(message).data : undefined;
  if (!call) return null;
  try {
    const result = await callTool(runtime, caller, call.params);
    return Response.json({ result, jsonrpc: '2.0', id: call.id });
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    return rpcError(200, error.code, error.message, { message });
  }
}

/** Returns whether a message uses a revision with sessions, which start with `initialize`. */
function isOfSession(request: HttpRequest, message: unknown): boolean {
  const version = request.headers.get('mcp-protocol-version');
  return (version === null || SESSION_PROTOCOL_VERSIONS.includes(version)) && !isStateless(message);
}

const CACHE = { ttlMs: 300_000, cacheScope: 'private' as const };

/**
 * Serves all revisions of the protocol. `answer` has already run the checks of guards.ts on the request.
 *
 * The handlers are registered on the low-level server, because registerTool would convert every schema again for each
 * request, and would put an error's message into the response.
 */
const serveProtocol = (publicUrl: string) =>
  createMcpHandler(
    ({ server }) => {
      server.setRequestHandler('tools/list', (_, { http }) => listTools(callerOf(http?.authInfo)));
      server.setRequestHandler('tools/call', async ({ params }, { http }) =>
        callTool(await getRuntime(), callerOf(http?.authInfo), params),
      );
      server.setRequestHandler('resources/list', (_, { http }) => listResources(callerOf(http?.authInfo)));
      server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
      server.setRequestHandler('resources/read', ({ params }, { http }) =>
        readResource(callerOf(http?.authInfo), params.uri),
      );
    },
    {
      serverInfo: serverInfo(publicUrl),
      instructions: INSTRUCTIONS,
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      supportedProtocolVersions: SESSION_PROTOCOL_VERSIONS,
      // The tools and resources change only with a new version of the service. Each caller sees only some of them, so
      // the cache is private.
      cacheHints: {
        'tools/list': CACHE,
        'resources/list': CACHE,
        'resources/templates/list': CACHE,
        'resources/read': CACHE,
      },
      // The lists do not change while a process runs, so a stream of changes would only keep a connection open.
      maxSubscriptions: 0,
      // Only elicitation (forms for the user) needs a validator, and this server does not use it.
      jsonSchemaValidator: {
        getValidator: () => {
          throw new Error('this server validates no JSON Schema');
        },
      },
    },
  );

const served = perProcess('mcp-handlers', () => new Map<string, ReturnType<typeof serveProtocol>>());

/**
 * Returns the handler for a public URL. The handler is created once, because the URL does not change while a process
 * runs.
 */
function protocolAt(publicUrl: string) {
  const handler = served.get(publicUrl) ?? serveProtocol(publicUrl);
  served.set(publicUrl, handler);
  return handler;
}

/** Returns the authenticated caller, which `toProtocolRequest` has attached to the request. */
function callerOf(authInfo: AuthInfo | undefined): Caller {
  const caller = authInfo?.extra?.caller;
  if (!caller) throw new Error('a request has passed the guards without a caller');
  return caller as Caller;
}

/** Extracts the message from mcp-handler's event stream for session revisions. Returns other responses unchanged. */
async function toPlainJson(response: Response): Promise<Response> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.startsWith('text/event-stream')) return response;
  const message = (await response.text())
    .split('\n')
    .findLast((line) => line.startsWith('data: {'))
    ?.slice('data: '.length);
  if (message === undefined) throw new Error('the stream of events ended without a message');
  return new Response(message, {
    status: response.status,
    headers: { 'Content-Type': 'application/json' },
  });
}

type Outcome = (typeof toolCallOutcome.enumValues)[number];

interface ToolParams {
  name: string;
  arguments?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
}

/**
 * Runs a tool. An error that the model can correct becomes a result that explains how to correct it. The result of an
 * internal error contains only a reference to the log, because a driver's message can contain personal data.
 *
 * @throws ProtocolError invalid params for a tool that does not exist or that the caller may not use
 */
async function callTool(runtime: Runtime, caller: Caller, params: ToolParams): Promise<CallToolResult> {
  const tool = TOOLS.find(({ name, scope }) => name === params.name && caller.reads.includes(scope));
  if (!tool) {
    const names = TOOLS.filter(({ scope }) => caller.reads.includes(scope)).map(({ name }) => name);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown tool. The tools are ${names.join(', ')}.`,
    );
  }
  const started = runtime.now();
  const log = (outcome: Outcome, rows: number, customerId: number | null = null) => {
    const kept = outcome === 'ok' ? tool.loggedArguments : [];
    noteCall(runtime, caller, params, { outcome, rows, customerId, started, kept });
  };
  try {
    const { result, rows, customerId } = await inSpan(
      { name: `tools/call ${tool.name}`, kind: 'internal' },
      () => tool.call(runtime.db, params.arguments ?? {}, caller),
    );
    log('ok', rows, customerId);
    return result;
  } catch (caught) {
    const error = await explainFailure(runtime, caught);
    if (error instanceof AppError && (error.code === 'not_found' || error.code === 'validation_failed')) {
      log(error.code, 0);
      return toErrorResult(error.message);
    }
    log('error', 0);
    if (error instanceof AppError && error.code === 'unavailable') return toErrorResult(error.message);
    return toErrorResult(logFailure(runtime, error, `tool ${tool.name} failed`));
  }
}

function toErrorResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

interface CallResult {
  outcome: Outcome;
  rows: number;
  /** The id of the customer that the answer is about. Null if it is not about one customer. */
  customerId: number | null;
  started: Date;
  /** Names of the arguments whose texts the log keeps. */
  kept: readonly string[];
}

/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACE = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

/** Records a call in the process's log and in the log of tool calls that staff read. */
function noteCall(runtime: Runtime, caller: Caller, params: ToolParams, ended: CallResult): void {
  const { outcome, rows, started } = ended;
  const duration_ms = runtime.now().getTime() - started.getTime();
  const trace_id = traceOf(params._meta?.traceparent);
  runtime.log.info(
    {
      tool: params.name,
      token_id: caller.tokenId,
      duration_ms,
      rows,
      outcome,
      ...(trace_id !== null && { trace_id }),
    },
    'tools/call',
  );
  const given = params.arguments ?? {};
  recordToolCall(runtime, {
    called_at: started,
    caller: caller.key,
    caller_name: caller.name,
    client_id: caller.clientId,
    staff_email: caller.email,
    tool: params.name,
    arguments: shortenArguments(given, ended.kept),
    customer_id: ended.customerId ?? idOf(given.customer_id),
    rows,
    duration_ms,
    outcome,
    trace_id,
  });
}

function traceOf(traceparent: unknown): string | null {
  return typeof traceparent === 'string' ? (TRACE.exec(traceparent)?.[1] ?? null) : null;
}

/** Returns a customer's id, which many models write as text. */
function idOf(given: unknown): number | null {
  const id = typeof given === 'string' ? Number(given) : given;
  return Number.isInteger(id) && Number(id) > 0 && Number(id) <= MAX_ID ? Number(id) : null;
}
