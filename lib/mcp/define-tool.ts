import type { CallToolResult, Tool as WireTool } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Database } from '@/db/database';
import { getCustomer } from '../customers/queries';
import type { CustomerRow } from '../customers/schema';
import { AppError } from '../errors';
import type { ReadScope } from '../oauth/metadata';
import type { Page } from '../page';
import type { Reader } from './authenticate';

/** Maximum length of most tools' answers in characters, which is about 20,000 tokens. */
export const MAX_CHARACTERS = 70_000;
/** The average number of characters per token in these answers. */
export const TOKEN_CHARACTERS = 3.5;

interface ToolDeclaration<Input extends z.ZodType, Output extends z.ZodObject> {
  name: string;
  title: string;
  /** The scope that a caller needs to see and call the tool. */
  scope: ReadScope;
  /** Explains to the model when to use the tool, what it returns, and which tool comes next. */
  description: string;
  input: Input;
  output: Output;
  /**
   * Returns the answer, in which personal data is masked later. The answer must match `output` exactly, so that no new
   * column leaks. It must not contain amounts if the reader may not read billing data.
   */
  run(db: Database, input: z.output<Input>, reader: Reader): Promise<Partial<z.output<Output>>>;
  /** Maximum length of an answer in characters, announced to clients that would otherwise truncate a long answer. */
  maxCharacters?: number;
  /** The URI of the app that shows the answer, in hosts that support apps. */
  view?: string;
  /** Checks an answer's length in characters. @throws AppError if the answer is too long */
  requireFit?(answer: Record<string, unknown>, length: number): void;
}

export type Tool = ReturnType<typeof defineTool>;

/** Makes a read-only tool from its declaration. */
export function defineTool<Input extends z.ZodType, Output extends z.ZodObject>(
  tool: ToolDeclaration<Input, Output>,
) {
  const inputSchema = toWireSchema(tool.input, 'input');
  const optional = new Set(Object.keys(inputSchema.properties ?? {}));
  for (const name of inputSchema.required ?? []) optional.delete(name);
  const { name, title, scope, description, maxCharacters, view } = tool;
  const _meta = {
    ...(maxCharacters && { 'anthropic/maxResultSizeChars': maxCharacters }),
    ...(view && { ui: { resourceUri: view } }),
  };
  /** The tool's entry in tools/list. It is built once, because converting schemas costs more than a query. */
  const wire: WireTool = {
    name,
    title,
    description,
    inputSchema,
    outputSchema: toWireSchema(tool.output, 'output'),
    annotations: {
      title,
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    ...(Object.keys(_meta).length > 0 && { _meta }),
  };
  return {
    name,
    scope,
    wire,
    view,
    /**
     * Names of the arguments whose values the log of tool calls keeps: the customer number, and arguments that accept
     * only dates or certain words. Other texts are shortened, because they may contain personal data.
     */
    loggedArguments: listImpersonal(inputSchema),
    /**
     * Runs the tool.
     *
     * @throws AppError with a sentence for the model; any other error is internal
     */
    async call(db: Database, args: Record<string, unknown>, reader: Reader) {
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
      const result: CallToolResult = { content: [{ type: 'text', text }], structuredContent: output };
      return {
        result,
        rows: countRows(output),
        /** The id of the customer that the answer is about. Null if it is not about one customer. */
        customerId: 'customer_number' in output ? Number(output.id) : null,
      };
    },
  };
}

/** Lists the customer number and the arguments whose texts the schema limits to certain words or to dates. */
function listImpersonal({ properties = {} }: WireSchema): string[] {
  return Object.entries(properties).flatMap(([name, property]) => {
    const { items, ...own } = property as { items?: object };
    const limits: z.core.JSONSchema.BaseSchema = { ...items, ...own };
    const isLimited = limits.enum !== undefined || limits.const !== undefined || limits.format === 'date';
    return isLimited || name === 'customer_number' ? [name] : [];
  });
}

/** Drops optional arguments that are null, because many models set arguments to null that they do not use. */
function withoutNulls(args: Record<string, unknown>, optional: Set<string>) {
  return Object.fromEntries(
    Object.entries(args).filter(([name, value]) => value !== null || !optional.has(name)),
  );
}

/** The canonical spelling of an integer. "099" is not canonical and stays text, because it may be a customer number. */
const CANONICAL = /^(0|-?[1-9]\d{0,15})$/;

/** Converts arguments to their declared types. Many models write numbers as text, or customer numbers as numbers. */
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
  const list = output.data ?? output.matches ?? output.summary ?? output.by_customer;
  return Array.isArray(list) ? list.length : 1;
}

/** Whether a field of a customer is personal data. A new field of `customerRow` does not compile until it is listed here. */
const IS_PERSONAL: Record<keyof CustomerRow, boolean> = {
  ...{ id: false, customer_number: false, country: false, tax_exempt: false, currency: false, status: false },
  ...{ name: true, first_name: true, last_name: true, company: true, email: true, phone: true },
  ...{ street: true, postal_code: true, city: true, vat_id: true },
};
const PERSONAL = Object.entries(IS_PERSONAL).flatMap(([name, isPersonal]) => (isPersonal ? [name] : []));
/**
 * A domain or an email address. It can identify a customer, and names of services often contain one. Its letters may be
 * followed by marks or joiners, which words of Hindi and Persian contain and `ü` as two characters, or by the middle dot
 * of Catalan.
 */
const DOMAIN =
  /(?:[^\s@]{1,64}@)?(?:[\p{L}\p{M}\p{N}\p{Join_C}·_-]{1,63}\.)+(?:xn--[a-z\d-]{1,59}|[\p{L}\p{M}]{2,63})/giu;
const MASKED = '[masked]';

/**
 * Masks personal data of customers in an answer and adds `personal_data: 'masked'`. A customer is an object with a
 * customer number, or the value of a field `customer`, which may lack the number. Fields named `domain`, and domains
 * and e-mail addresses inside names, are masked too. Numbers and statuses stay, so that the answer is still useful.
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
const MAX_ISSUES = 3;

/** Describes the first three issues. Most sentences name the argument, the requirement and the given value. */
function describeIssues(issues: z.core.$ZodIssue[], schema: WireSchema): string {
  const sentences = [...new Set(issues.map((issue) => describeIssue(issue, schema)))];
  return sentences.slice(0, MAX_ISSUES).join(' ');
}

function describeIssue(issue: z.core.$ZodIssue, schema: WireSchema): string {
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(schema.properties ?? {});
    const hint = known.length > 0 ? `It takes ${known.join(', ')}.` : 'It takes none.';
    return `Unknown argument ${issue.keys.map(show).join(', ')}. ${hint}`;
  }
  // For an element of a list, the path also contains the element's index.
  const [argument] = issue.path;
  if (argument === undefined) return issue.message;
  const name = String(argument);
  if (issue.code === 'invalid_type' && issue.input === undefined) return `${name} is required.`;
  return `${name} ${requirement(issue, schema.properties?.[name])}${describeReceived(issue)}.`;
}

function requirement(issue: z.core.$ZodIssue, property: unknown): string {
  const isBound = issue.code === 'too_small' || issue.code === 'too_big';
  const { minimum, maximum } = (property ?? {}) as { minimum?: unknown; maximum?: unknown };
  return isBound && minimum !== undefined && maximum !== undefined
    ? `must be ${minimum}..${maximum}`
    : issue.message;
}

function describeReceived(issue: z.core.$ZodIssue): string {
  // A rule about several arguments receives all of them, so its input is not shown.
  const isOfSeveral = issue.code === 'custom' && typeof issue.input === 'object';
  return issue.input === undefined || isOfSeveral ? '' : ` (got ${show(issue.input)})`;
}

function show(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

type WireSchema = WireTool['inputSchema'];

/** Converts a zod object to JSON Schema. Omits parts that models do not need, to save their context. */
function toWireSchema(schema: z.ZodType, io: 'input' | 'output'): WireSchema {
  const { $schema, ...wire } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => shortenSchema(jsonSchema, io),
  });
  return { ...wire, type: 'object' } as WireSchema;
}

/** Maximums of numbers above this value are left out of the schema, because models do not reach them. */
const MAX_SHOWN_BOUND = 1000;

/**
 * Leaves a row's columns out of the output schema, to keep tools/list short. List tools name the columns in the
 * argument `fields`.
 */
export const lean = (row: z.ZodObject) => row.meta({ isLean: true });

function shortenSchema(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
  if (io === 'output') {
    // A model only reads answers, so it does not need to know which properties are required or allowed.
    delete schema.required;
    delete schema.additionalProperties;
    delete schema.propertyNames;
    // A model does not need the possible values of a field to read an answer. Values to filter by are in the input
    // schema, and the tool's description explains fields that are not obvious.
    delete schema.enum;
    delete schema.description;
    if (schema.isLean) delete schema.properties;
    delete schema.isLean;
  }
  // A model does not reach these limits. If an argument exceeds one, the error message explains it.
  for (const limit of ['minLength', 'maxLength', 'minItems', 'maxItems'] as const) delete schema[limit];
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if ((schema.maximum ?? 0) > MAX_SHOWN_BOUND) delete schema.maximum;
  if (schema.format === 'date') delete schema.pattern;
  const [inner, nothing, ...others] = schema.anyOf ?? [];
  const isNullable = inner?.type && nothing?.type === 'null' && others.length === 0;
  if (!isNullable) return;
  delete schema.anyOf;
  if (io === 'input') Object.assign(schema, { ...inner, type: [inner.type, 'null'] });
}

type Row = Record<string, unknown>;

interface ListDeclaration<Filters extends z.ZodObject, RowSchema extends z.ZodObject>
  extends Pick<ToolDeclaration<Filters, z.ZodObject>, 'name' | 'title' | 'scope' | 'description' | 'view'> {
  filters: Filters;
  /** Filters on masked fields. Callers that get masked answers must not use these filters. */
  personalFilters?: (keyof z.output<Filters> & string)[];
  row: RowSchema;
  list(db: Database, filters: z.output<Filters>): Promise<Page<Row>>;
  /** Returns counts and sums of all rows that match the filters. */
  summarize(db: Database, filters: z.output<Filters>): Promise<Row[]>;
  summaryRow: z.ZodObject;
  /** Returns counts and sums per customer and currency, in the order of `sumByCustomer`. */
  summarizeByCustomer(db: Database, filters: z.output<Filters>): Promise<Page<Row>>;
  customerRow: z.ZodObject;
  /** Derives additional fields of the answer from the rows of a summary. */
  derive?: { shape: z.ZodRawShape; from(summary: Row[]): Row };
  /** Column names for the example in the description of the argument `fields`. */
  example: string[];
  /** Amounts in the rows of any kind. A caller that may not read billing data neither gets nor chooses them. */
  amounts?: string[];
}

/** Makes the argument that chooses columns of a row. `requireColumns` checks their names. */
export function fieldsArgument(row: z.ZodObject, example: string[]) {
  const column = z.string('must be a string').max(60, 'must have at most 60 characters');
  return z
    .array(column.meta({ enum: columnsOf(row) }), 'must be a list of column names')
    .min(1, 'must name a column')
    .max(40, 'must name at most 40 columns')
    .optional()
    .describe(`Columns, like ${JSON.stringify(example)}. Default all.`);
}

const summaryArguments = {
  summary: z.boolean('must be true or false').optional().describe('Only counts and sums.'),
  summary_by: z
    .literal('customer', 'must be customer')
    .optional()
    .describe('Counts and sums per customer and currency, largest first in each currency.'),
};

/** Makes a tool that returns a page of rows, with all or some columns, or only counts and sums. */
export function defineListTool<Filters extends z.ZodObject, RowSchema extends z.ZodObject>(
  declared: ListDeclaration<Filters, RowSchema>,
): Tool {
  const { filters, personalFilters = [], row, list, summarize, summaryRow, amounts = [], ...rest } = declared;
  const { summarizeByCustomer, customerRow, derive, example, ...tool } = rest;
  return defineTool({
    ...tool,
    input: filters.safeExtend({ fields: fieldsArgument(row, example), ...summaryArguments }),
    output: z.object({
      page: z.int().optional(),
      per_page: z.int().optional(),
      /** Number of rows on all pages. */
      total: z.int(),
      last_page: z.int().optional(),
      data: z.array(lean(row)).optional(),
      has_more: z.boolean().optional(),
      next_page: z.int().nullable().optional(),
      summary: z.array(lean(summaryRow)).optional(),
      by_status: z.record(z.string(), z.int()).optional(),
      ...derive?.shape,
      by_customer: z.array(lean(customerRow)).optional(),
    }),
    run: async (db, input, { reads, masked }) => {
      if (masked) refusePersonal(input, personalFilters);
      const { fields, summary, summary_by, ...filtered } = input as Row & AnswerArguments;
      const hidden = reads.includes('billing:read') ? [] : amounts;
      const cleared = (one: Row) => (hidden.length > 0 ? omitFields(one, hidden) : one);
      if (fields) refuseAmounts(fields, hidden);
      if (fields) requireColumns(fields, row, hidden);
      return forCustomer(db, filtered, async (given) => {
        const values = given as unknown as z.output<Filters>;
        if (summary_by) {
          const { data, ...page } = await summarizeByCustomer(db, values);
          return { ...page, ...nextOf(page), by_customer: data.map(cleared) };
        }
        if (summary) {
          const found = await summarize(db, values);
          const by_status = countBy(found, 'status');
          const total = Object.values(by_status).reduce((sum, count) => sum + count, 0);
          return { total, summary: found.map(cleared), by_status, ...derive?.from(found) };
        }
        const { data, ...page } = await list(db, values);
        const rows = data.map(cleared);
        return { ...page, data: fields ? rows.map((one) => pickFields(one, fields)) : rows, ...nextOf(page) };
      });
    },
    maxCharacters: MAX_CHARACTERS,
    requireFit,
  } as ToolDeclaration<z.ZodObject, z.ZodObject>);
}

interface AnswerArguments {
  fields?: string[];
  summary?: boolean;
  summary_by?: 'customer';
}

const nextOf = ({ page, last_page }: { page: number; last_page: number }) => ({
  has_more: page < last_page,
  next_page: page < last_page ? page + 1 : null,
});

function countBy(rows: Row[], name: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const row of rows) {
    const key = String(row[name]);
    counts[key] = (counts[key] ?? 0) + Number(row.count);
  }
  return counts;
}

/**
 * Runs a list's query. If the query finds nothing for a customer, checks whether the customer exists. If the customer
 * was merged into another one, repeats the query for the other one.
 *
 * @throws AppError not_found if the customer does not exist
 */
async function forCustomer<Answer extends { total: number }>(
  db: Database,
  given: Row,
  run: (given: Row) => Promise<Answer>,
): Promise<Answer> {
  const answer = await run(given);
  const id = given.customer_id as number | undefined;
  if (answer.total > 0 || id === undefined) return answer;
  const customer = await getCustomer(db, { id });
  if (!customer) throw new AppError('not_found', unknownCustomer(`id ${id}`));
  return customer.id === id ? answer : run({ ...given, customer_id: customer.id });
}

/** Returns the error message for a customer that does not exist. */
export const unknownCustomer = (key: string): string =>
  `No customer with ${key}. Use find-customer-tool to search by name or e-mail.`;

/** Refuses filters on masked fields, because repeated searches could reveal a value letter by letter. */
function refusePersonal(given: Row, personalFilters: string[]): void {
  const used = personalFilters.find((name) => given[name] !== undefined);
  if (used === undefined) return;
  throw new AppError(
    'validation_failed',
    `${used}: This access hides personal data, so this is not searched. Leave it out.`,
  );
}

/** Refuses to answer with the columns that the caller must not read. */
function refuseAmounts(fields: string[], hidden: string[]): void {
  const chosen = fields.find((field) => hidden.includes(field));
  if (chosen === undefined) return;
  throw new AppError(
    'validation_failed',
    `fields: ${chosen} needs the scope billing:read, which this access lacks. Leave it out.`,
  );
}

function requireFit(answer: Row, length: number): void {
  if (length <= MAX_CHARACTERS || !Array.isArray(answer.data)) return;
  const fits = Math.max(1, Math.floor((answer.data.length * MAX_CHARACTERS) / length));
  throw new AppError(
    'validation_failed',
    `This page has ${length} characters, more than the ${MAX_CHARACTERS} that are answered at once. Ask again with per_page ${fits} or less, with fields naming the columns you need, or with summary true.`,
  );
}

/**
 * Checks the names of columns.
 *
 * @param hidden columns that the caller must not read
 * @throws AppError validation_failed with the list of columns that the caller may read if one is not in it
 */
export function requireColumns(fields: string[], row: z.ZodObject, hidden: string[] = []): void {
  const known = columnsOf(row).filter((column) => !hidden.includes(column));
  const unknown = fields.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  const shown = unknown.map((field) => JSON.stringify(field.slice(0, 40))).join(', ');
  throw new AppError('validation_failed', `fields: unknown ${shown}. The columns are ${known.join(', ')}.`);
}

/** Returns a row without the given columns. */
export function omitFields(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !fields.includes(name)));
}

/** Returns the given columns of a row, in the row's order. A name like `customer.name` selects a field of an object. */
export function pickFields(row: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const entries = Object.entries(row).flatMap(([name, value]) => {
    if (fields.includes(name)) return [[name, value]];
    const parts = fields.flatMap((field) =>
      field.startsWith(`${name}.`) ? field.slice(name.length + 1) : [],
    );
    return parts.length > 0 ? [[name, pickFields(value as Record<string, unknown>, parts)]] : [];
  });
  return Object.fromEntries(entries);
}

function columnsOf(row: z.ZodObject): string[] {
  return Object.entries(row.shape).flatMap(([name, type]) =>
    type instanceof z.ZodObject ? [name, ...columnsOf(type).map((part) => `${name}.${part}`)] : name,
  );
}
