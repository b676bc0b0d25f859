import type { CallToolResult, Tool as WireTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Database } from '@/db/database';
import type { CustomerRow } from '../customers/schema';
import { AppError } from '../errors';
import type { ReadScope } from '../oauth/metadata';
import type { Reader } from './authenticate';

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

interface ToolAnswer {
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

/** Whether a field of a customer says who it is. A new field does not compile until that is decided here. */
const IS_PERSONAL: Record<keyof CustomerRow, boolean> = {
  ...{ id: false, customer_number: false, country: false, tax_exempt: false, currency: false, status: false },
  ...{ name: true, first_name: true, last_name: true, company: true, email: true, phone: true },
  ...{ street: true, postal_code: true, city: true, vat_id: true },
};
const PERSONAL = Object.entries(IS_PERSONAL).flatMap(([name, isPersonal]) => (isPersonal ? [name] : []));
/** A domain or an address says whose it is; the names of services hold theirs. */
const DOMAIN = /(?:[^\s@]{1,64}@)?(?:[\p{L}\p{N}-]{1,63}\.)+\p{L}{2,63}/gu;
const MASKED = '[masked]';

/**
 * Removes personal data of customers from an answer. A customer is an object with a customer number, or the value of
 * "customer". A caller may have asked for the customer's name alone. The answer says that it is masked.
 * Numbers and states stay, so that questions about them are still answered.
 */
export function maskAnswer(output: Record<string, unknown>): Record<string, unknown> {
  return { ...maskObject(output), personal_data: 'masked' };
}

function maskValue(value: unknown, isCustomer: boolean | undefined): unknown {
  if (Array.isArray(value)) return value.map((one) => maskValue(one, isCustomer));
  if (typeof value !== 'object' || value === null) return value;
  return maskObject(value as Record<string, unknown>, isCustomer);
}

function maskObject(
  object: Record<string, unknown>,
  isCustomer = 'customer_number' in object,
): Record<string, unknown> {
  const entries = Object.entries(object).map(([name, value]) => {
    const hides = name === 'domain' || (isCustomer && PERSONAL.includes(name));
    if (hides && value !== null) return [name, MASKED];
    if (name === 'name' && typeof value === 'string') return [name, value.replace(DOMAIN, MASKED)];
    return [name, maskValue(value, name === 'customer' || undefined)];
  });
  return Object.fromEntries(entries);
}

const MAX_SHOWN = 60;

/** One sentence an issue, each naming the argument, what it must be and what it was. */
function describeIssues(issues: z.core.$ZodIssue[], schema: WireSchema): string {
  return issues.map((issue) => describeIssue(issue, schema)).join(' ');
}

function describeIssue(issue: z.core.$ZodIssue, schema: WireSchema): string {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(schema.properties ?? {});
    const hint = known.length > 0 ? `It takes ${known.join(', ')}.` : 'It takes none.';
    return `Unknown argument ${issue.keys.map(show).join(', ')}. ${hint}`;
  }
  const name = issue.path.join('.');
  if (name === '') return issue.message;
  if (issue.code === 'invalid_type' && issue.input === undefined) return `${name} is required.`;
  return `${name} ${requirement(issue, schema.properties?.[name])}${got(issue)}.`;
}

function requirement(issue: z.core.$ZodIssue, property: unknown): string {
  const isBound = issue.code === 'too_small' || issue.code === 'too_big';
  const { minimum, maximum } = (property ?? {}) as { minimum?: unknown; maximum?: unknown };
  return isBound && minimum !== undefined && maximum !== undefined
    ? `must be ${minimum}..${maximum}`
    : issue.message;
}

function got(issue: z.core.$ZodIssue): string {
  // A rule about several arguments is given all of them.
  const isOfSeveral = issue.code === 'custom' && typeof issue.input === 'object';
  return issue.input === undefined || isOfSeveral ? '' : ` (got ${show(issue.input)})`;
}

function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

type WireSchema = WireTool['inputSchema'];

/** A zod object as JSON Schema, without what only costs a model's context. */
function toWireSchema(schema: z.ZodType, io: 'input' | 'output'): WireSchema {
  const { $schema, ...wire } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => shortenSchema(jsonSchema, io),
  });
  return { ...wire, type: 'object' } as WireSchema;
}

function shortenSchema(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  if (io === 'output') {
    // Zod guarantees them before an answer leaves; what a model reads are the properties.
    delete schema.required;
    delete schema.additionalProperties;
    if (schema.enum) delete schema.type;
  }
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.format === 'date') delete schema.pattern;
  const [inner, nothing, ...others] = schema.anyOf ?? [];
  const isNullable = inner?.type && nothing?.type === 'null' && others.length === 0;
  if (!isNullable) return;
  delete schema.anyOf;
  Object.assign(schema, { ...inner, type: [inner.type, 'null'] });
}
