import type { Tool } from '@modelcontextprotocol/server';
import { z } from 'zod';

export type WireSchema = Tool['inputSchema'];

/** A zod object as JSON Schema, without what only costs a model's context. */
export function toWireSchema(schema: z.ZodType, io: 'input' | 'output'): WireSchema {
  const { $schema, ...wire } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => shorten(jsonSchema, io),
  });
  return { ...wire, type: 'object' } as WireSchema;
}

function shorten(schema: z.core.JSONSchema.BaseSchema, io: 'input' | 'output'): void {
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
