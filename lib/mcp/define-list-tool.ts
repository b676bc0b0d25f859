import { z } from 'zod';
import type { Database } from '@/db/database';
import { AppError } from '../errors';
import type { Page } from '../page';
import { defineTool, MAX_CHARACTERS, type Tool, type ToolDeclaration } from './define-tool';

type Row = Record<string, unknown>;

interface ListDeclaration<Filters extends z.ZodObject, RowSchema extends z.ZodObject>
  extends Pick<ToolDeclaration<Filters, z.ZodObject>, 'name' | 'title' | 'scope' | 'description'> {
  filters: Filters;
  /** Filters on what is masked: a reader of masked answers may not use them. */
  personalFilters?: (keyof z.output<Filters> & string)[];
  row: RowSchema;
  list(db: Database, filters: z.output<Filters>): Promise<Page<Row>>;
  /** Counts and sums of everything that the filters find. */
  summarize(db: Database, filters: z.output<Filters>): Promise<Row[]>;
  summaryRow: z.ZodObject;
  /** A row, or a row of the summary, for a caller that cannot read billing data. */
  withoutMoney?(row: Row): Row;
}

export const fieldsArgument = z
  .array(
    z.string('must be a string').max(60, 'must have at most 60 characters'),
    'must be a list of column names',
  )
  .min(1, 'must name a column')
  .max(40, 'must name at most 40 columns')
  .optional()
  .describe('Columns, like ["id","status","customer.name"]. Default all.');

const answerFields = {
  fields: fieldsArgument,
  summary: z
    .boolean('must be true or false')
    .optional()
    .describe('Only counts and sums per currency and status.'),
};

/** A tool that lists rows a page at a time; or only columns of them, or only their sums. */
export function defineListTool<Filters extends z.ZodObject, RowSchema extends z.ZodObject>(
  declared: ListDeclaration<Filters, RowSchema>,
): Tool {
  const { filters, personalFilters = [], row, list, summarize, summaryRow, withoutMoney, ...tool } = declared;
  const asIs = (one: Row) => one;
  return defineTool({
    ...tool,
    input: filters.safeExtend(answerFields),
    output: z.object({
      page: z.int().optional(),
      per_page: z.int().optional(),
      total: z.int().describe('Rows on all pages'),
      last_page: z.int().optional(),
      data: z.array(row).optional(),
      has_more: z.boolean().optional(),
      next_page: z.int().nullable().optional(),
      summary: z.array(summaryRow).optional(),
    }),
    run: async (db, input, { reads, masked }) => {
      if (masked) refusePersonal(input, personalFilters);
      const { fields, summary, ...given } = input as z.output<Filters> & {
        fields?: string[];
        summary?: boolean;
      };
      const cleared = withoutMoney && !reads.includes('billing:read') ? withoutMoney : asIs;
      if (fields) requireColumns(fields, row);
      if (summary) {
        const found = await summarize(db, given as unknown as z.output<Filters>);
        const total = found.reduce((sum, { count }) => sum + Number(count), 0);
        return { total, summary: found.map(cleared) };
      }
      const { data, ...page } = await list(db, given as unknown as z.output<Filters>);
      const rows = data.map(cleared);
      return {
        ...page,
        data: fields ? rows.map((one) => pickFields(one, fields)) : rows,
        has_more: page.page < page.last_page,
        next_page: page.page < page.last_page ? page.page + 1 : null,
      };
    },
    maxCharacters: MAX_CHARACTERS,
    requireFit,
  } as ToolDeclaration<z.ZodObject, z.ZodObject>);
}

/** The rows that a filter finds tell letter by letter what it was compared with. */
function refusePersonal(given: Row, personalFilters: string[]): void {
  const used = personalFilters.find((name) => given[name] !== undefined);
  if (used === undefined) return;
  throw new AppError(
    'validation_failed',
    `${used}: This access hides personal data, so this is not searched. Leave it out.`,
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

/** @throws AppError validation_failed with the list of columns, for an unknown column */
export function requireColumns(fields: readonly string[], row: z.ZodObject): void {
  const known = columnsOf(row);
  const unknown = fields.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  const shown = unknown.map((field) => JSON.stringify(field.slice(0, 40))).join(', ');
  throw new AppError('validation_failed', `fields: unknown ${shown}. The columns are ${known.join(', ')}.`);
}

/** The row with these columns alone, in the row's own order. */
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
