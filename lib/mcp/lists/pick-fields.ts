import { z } from 'zod';
import { AppError } from '@/lib/errors';

type Row = Record<string, unknown>;

export const fieldsArgument = z
  .array(
    z.string('must be a string').max(60, 'must have at most 60 characters'),
    'must be a list of column names',
  )
  .min(1, 'must name a column')
  .max(40, 'must name at most 40 columns')
  .optional()
  .describe('Columns, like ["id","status","customer.name"]. Default all.');

/** @throws AppError validation_failed with the list of columns, for an unknown column */
export function requireColumns(fields: readonly string[], row: z.ZodObject): void {
  const known = columnsOf(row);
  const unknown = fields.filter((field) => !known.includes(field));
  if (unknown.length === 0) return;
  const shown = unknown.map((field) => JSON.stringify(field.slice(0, 40))).join(', ');
  throw new AppError('validation_failed', `fields: unknown ${shown}. The columns are ${known.join(', ')}.`);
}

/** The row with these columns alone, in the row's own order. */
export function pickFields(row: Row, fields: readonly string[]): Row {
  const entries = Object.entries(row).flatMap(([name, value]) => {
    if (fields.includes(name)) return [[name, value]];
    const parts = fields.flatMap((field) =>
      field.startsWith(`${name}.`) ? field.slice(name.length + 1) : [],
    );
    return parts.length > 0 ? [[name, pickFields(value as Row, parts)]] : [];
  });
  return Object.fromEntries(entries);
}

function columnsOf(row: z.ZodObject): string[] {
  return Object.entries(row.shape).flatMap(([name, type]) =>
    type instanceof z.ZodObject ? [name, ...columnsOf(type).map((part) => `${name}.${part}`)] : name,
  );
}
