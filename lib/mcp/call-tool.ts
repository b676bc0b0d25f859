import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { AppError } from '../errors';
import { explainFailure, type Runtime } from '../runtime';
import { noteCall, type Outcome, type ToolParams } from './call-log';
import type { Caller } from './caller';
import { logFailure } from './log-failure';
import { TOOLS } from './tools';

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
