import type { toolCallOutcome } from '@/db/schema';
import { MAX_ID } from '../page';
import type { Runtime } from '../runtime';
import { recordToolCall, shortenArguments } from '../tool-calls/record-tool-call';
import type { Caller } from './caller';

export type Outcome = (typeof toolCallOutcome.enumValues)[number];

export interface ToolParams {
  name: string;
  arguments?: Record<string, unknown> | undefined;
  _meta?: Record<string, unknown> | undefined;
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
export function noteCall(runtime: Runtime, caller: Caller, params: ToolParams, ended: Ended): void {
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
