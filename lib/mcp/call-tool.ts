import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { toolCallOutcome } from '@/db/schema';
import { AppError } from '../errors';
import { MAX_ID } from '../page';
import { explainFailure, type Runtime } from '../runtime';
import { recordToolCall, shortenArguments } from '../tool-calls/record-tool-call';
import type { Caller } from './authenticate';
import { logFailure } from './protocol';
import { TOOLS } from './tools';

type Outcome = (typeof toolCallOutcome.enumValues)[number];

interface ToolParams {
  name: string;
  arguments?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
}

/**
 * Runs a tool. What a model can put right comes back as a result that says how; our own failures go to
 * the log under a reference, since a driver's message holds the parameters, that is, personal data.
 *
 * @throws ProtocolError invalid params for a tool that does not exist, or that the caller may not use
 */
export async function callTool(
  runtime: Runtime,
  caller: Caller,
  params: ToolParams,
): Promise<CallToolResult> {
  const tool = TOOLS.find(({ name, scope }) => name === params.name && caller.reads.includes(scope));
  if (!tool) {
    const names = TOOLS.filter(({ scope }) => caller.reads.includes(scope)).map(({ name }) => name);
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown tool. The tools are ${names.join(', ')}.`,
    );
  }
  const started = runtime.now();
  const log = (outcome: Outcome, rows: number, customerId: number | null = null) =>
    noteCall(runtime, caller, params, { outcome, rows, customerId, started });
  try {
    const { result, rows, customerId } = await tool.call(runtime.db, params.arguments ?? {}, caller);
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

interface Ended {
  outcome: Outcome;
  rows: number;
  /** Whom the answer was about. */
  customerId: number | null;
  started: Date;
}

/** W3C Trace Context: version, trace id, parent id, flags. */
const TRACE = /^[\da-f]{2}-([\da-f]{32})-[\da-f]{16}-[\da-f]{2}$/;

/** Notes a call in the process's log, and in the one that staff read. */
function noteCall(runtime: Runtime, caller: Caller, params: ToolParams, ended: Ended): void {
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
    arguments: shortenArguments(given, outcome === 'ok'),
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

function idOf(given: unknown): number | null {
  return Number.isInteger(given) && Number(given) > 0 && Number(given) <= MAX_ID ? Number(given) : null;
}
