import type { CallToolResult, Tool as WireTool } from '@modelcontextprotocol/server';
import type { z } from 'zod';
import type { Database } from '@/db/database';
import { AppError } from '../errors';
import type { ReadScope } from '../oauth/scopes';
import { describeIssues } from './argument-issues';
import type { Reader } from './caller';
import { maskAnswer } from './mask';
import { toWireSchema, type WireSchema } from './wire-schema';

/** The limit of an answer by default, in characters: about 20,000 tokens. */
export const MAX_CHARACTERS = 70_000;
/** Characters of a token, in answers like these. */
export const TOKEN_CHARACTERS = 3.5;

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
  /** How long an answer may be, for clients that cut off or store answers which are longer than others. */
  maxCharacters?: number;
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
      ...(tool.maxCharacters && { _meta: { 'anthropic/maxResultSizeChars': tool.maxCharacters } }),
    },
    async call(db, args, reader) {
      const input = tool.input.safeParse(toDeclaredTypes(withoutNulls(args, optional), inputSchema), {
        reportInput: true,
      });
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

/** An integer as a number is written: "099" is the text of a customer number, and no other text is changed. */
const CANONICAL = /^(0|-?[1-9]\d{0,15})$/;

/** Many models write numbers as text, and customer numbers of digits as numbers. */
function toDeclaredTypes(args: Record<string, unknown>, { properties = {} }: WireSchema) {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const { type } = (Object.hasOwn(properties, name) ? properties[name] : {}) as { type?: unknown };
      if (type === 'integer' && typeof value === 'string' && CANONICAL.test(value))
        return [name, Number(value)];
      if (type === 'string' && Number.isSafeInteger(value)) return [name, String(value)];
      return [name, value];
    }),
  );
}

function countRows(output: Record<string, unknown>): number {
  const list = output.data ?? output.matches ?? output.summary;
  return Array.isArray(list) ? list.length : 1;
}
