import { z } from 'zod';

export type CellType = 'text' | 'number' | 'amount' | 'percent' | 'boolean' | 'date' | 'instant' | 'list';

/** The columns whose numbers are money, and may have a currency. */
const AMOUNTS = new Set([
  ...['amount', 'price', 'unit_price', 'subtotal', 'tax', 'total'],
  ...['amount_paid', 'amount_due', 'amount_credited', 'refunded_amount'],
]);

/** What a cell of a column is read as, which its field's schema tells. */
export interface Column {
  /** As in our JSON. */
  name: string;
  type: CellType;
  /** What an empty cell means; `left out`: the record keeps what it has, a new one takes what is usual. */
  empty: 'null' | 'left out' | 'none' | 'refused';
}

/** The columns that a file of some kind may have; fields that no cell can hold have none. */
export function toColumns(fields: z.ZodObject): Column[] {
  return Object.entries(fields.shape).flatMap(([name, schema]) => {
    const { inner, isOptional, isNullable } = unwrap(schema);
    const found = typeOf(inner);
    if (!found) return [];
    const type = found === 'number' ? numberType(name) : found;
    const empty = isNullable ? 'null' : type === 'list' ? 'none' : isOptional ? 'left out' : 'refused';
    return [{ name, type, empty }];
  });
}

function numberType(name: string): CellType {
  return AMOUNTS.has(name) ? 'amount' : name === 'tax_rate' ? 'percent' : 'number';
}

function unwrap(schema: z.core.$ZodType): {
  inner: z.core.$ZodType;
  isOptional: boolean;
  isNullable: boolean;
} {
  if (schema instanceof z.ZodOptional) return { ...unwrap(schema.unwrap()), isOptional: true };
  if (schema instanceof z.ZodNullable) return { ...unwrap(schema.unwrap()), isNullable: true };
  return { inner: schema, isOptional: false, isNullable: false };
}

function typeOf(schema: z.core.$ZodType): CellType | null {
  if (schema instanceof z.ZodISODate) return 'date';
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodBoolean) return 'boolean';
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum || schema instanceof z.ZodStringFormat)
    return 'text';
  if (schema instanceof z.ZodUnion) return 'instant'; // `instantOrDay`
  return schema instanceof z.ZodArray && typeOf(schema.element) === 'text' ? 'list' : null;
}
