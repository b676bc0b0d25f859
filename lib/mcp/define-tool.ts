import type { CallToolResult, Tool as WireTool } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Database } from '@/db/database';
import { AppError } from '../errors';
import type { ReadScope } from '../oauth/scopes';
import { describeIssues } from './argument-issues';
import type { Reader } from './caller';
import { maskAnswer } from './mask';
import { toWireSchema } from './wire-schema';

export interface ToolDeclaration<Input extends z.ZodType, Output extends z.ZodObject> {
  name: string;
  title: string;
  /** Who lacks it does not see the tool. */
  scope: ReadScope;
  /** For a model: when to use it, what it answers, which tool comes next. */
  description: string;
  input: Input;
  output: Output;
  /**
   * What it answers goes out as it is: nothing else may be in it, so that a new column leaks nowhere. What of
   * it is about money is left out for a reader who may not read bills.
   */
  run(db: Database, input: z.output<Input>, reader: Reader): Promise<Partial<z.output<Output>>>;
  /** @throws AppError where the answer, of so many characters, is too long */
  requireFit?(answer: Record<string, unknown>, length: number): void;
}

export interface ToolAnswer {
  result: CallToolResult;
  rows: number;
  /** Whom it is about, where it is about one customer. */
  customerId: number | null;
}

export interface Tool {
  name: string;
  scope: ReadScope;
  /** As tools/list says it; built once, since converting schemas costs more than a query. */
  wire: WireTool;
  /** @throws AppError with a sentence for the model; anything else is ours to repair */
  call(db: Database, args: Record<string, unknown>, reader: Reader): Promise<ToolAnswer>;
}

/** A read-only tool: its declaration is all there is to it. */
export function defineTool<Input extends z.ZodType, Output extends z.ZodObject>(
  tool: ToolDeclaration<Input, Output>,
): Tool {
  const inputSchema = toWireSchema(tool.input, 'input');
  const optional = new Set(Object.keys(inputSchema.properties ?? {}));
  for (const name of inputSchema.required ?? []) optional.delete(name);
  return {
    name: tool.name,
    scope: tool.scope,
    wire: {
      name: tool.name,
      title: tool.title,
      description: tool.description,
      inputSchema,
      outputSchema: toWireSchema(tool.output, 'output'),
      annotations: {
        title: tool.title,
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    async call(db, args, reader) {
      const input = tool.input.safeParse(withoutNulls(args, optional), { reportInput: true });
      if (!input.success) {
        throw new AppError('validation_failed', describeIssues(input.error.issues, inputSchema));
      }
      const answer: Record<string, unknown> = await tool.run(db, input.data, reader);
      const output = reader.masked ? maskAnswer(answer) : answer;
      const text = JSON.stringify(output);
      tool.requireFit?.(output, text.length);
      return {
        result: { content: [{ type: 'text', text }], structuredContent: output },
        rows: countRows(output),
        customerId: 'customer_number' in output ? Number(output.id) : null,
      };
    },
  };
}

/** Many models fill in what they do not mean with null. */
function withoutNulls(args: Record<string, unknown>, optional: Set<string>) {
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null || !optional.has(name)),
  );
}

function countRows(output: Record<string, unknown>): number {
  const list = output.data ?? output.matches ?? output.summary;
  return Array.isArray(list) ? list.length : 1;
}
