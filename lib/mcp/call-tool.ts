import { type CallToolResult, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { AppError } from '../errors';
import { explainFailure, type Runtime } from '../runtime';
import { logFailure } from './log-failure';
import { TOOLS } from './tools';

type Outcome = 'ok' | 'not_found' | 'validation_failed' | 'error';

/**
 * Runs a tool. What a model can put right comes back as a result that says how; our own failures go to
 * the log under a reference, since a driver's message holds the parameters, that is, personal data.
 *
 * @throws ProtocolError invalid params for a tool that does not exist
 */
export async function callTool(
  runtime: Runtime,
  tokenId: string,
  params: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<CallToolResult> {
  const tool = TOOLS.find(({ name }) => name === params.name);
  if (!tool) {
    const names = TOOLS.map(({ name }) => name).join(', ');
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool. The tools are ${names}.`);
  }
  const started = runtime.now();
  const log = (outcome: Outcome, rows: number) =>
    runtime.log.info(
      {
        tool: tool.name,
        token_id: tokenId,
        duration_ms: runtime.now().getTime() - started.getTime(),
        rows,
        outcome,
      },
      'tools/call',
    );
  try {
    const { result, rows } = await tool.call(runtime.db, params.arguments ?? {});
    log('ok', rows);
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
