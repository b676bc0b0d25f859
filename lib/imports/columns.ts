import { z } from 'zod';

export type CellType = 'text' | 'number' | 'boolean' | 'date' | 'instant' | 'list';

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
    const type = typeOf(inner);
    if (!type) return [];
    const empty = isNullable ? 'null' : type === 'list' ? 'none' : isOptional ? 'left out' : 'refused';
    return [{ name, type, empty }];
  });
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
