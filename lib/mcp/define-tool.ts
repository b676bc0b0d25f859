import type { CallToolResult, Tool as WireTool } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Database } from '@/db/database';
import { AppError } from '../errors';
import { describeIssues } from './argument-issues';
import { toWireSchema } from './wire-schema';

interface ToolDeclaration<Input extends z.ZodType, Output extends z.ZodObject> {
  name: string;
  title: string;
  /** For a model: when to use it, what it answers, which tool comes next. */
  description: string;
  input: Input;
  output: Output;
  run(db: Database, input: z.output<Input>): Promise<z.input<Output>>;
}

export interface Tool {
  name: string;
  /** As tools/list says it; built once, since converting schemas costs more than a query. */
  wire: WireTool;
  /** @throws AppError with a sentence for the model; anything else is ours to repair */
  call(db: Database, args: Record<string, unknown>): Promise<{ result: CallToolResult; rows: number }>;
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
    async call(db, args) {
      const input = tool.input.safeParse(withoutNulls(args, optional), { reportInput: true });
      if (!input.success) {
        throw new AppError('validation_failed', describeIssues(input.error.issues, inputSchema));
      }
      const output: Record<string, unknown> = tool.output.parse(await tool.run(db, input.data));
      const text = JSON.stringify(output);
      return {
        result: { content: [{ type: 'text', text }], structuredContent: output },
        rows: countRows(output),
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
  const list = output.data ?? output.matches;
  return Array.isArray(list) ? list.length : 1;
}
