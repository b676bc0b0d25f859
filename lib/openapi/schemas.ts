import { z } from 'zod';
import { problem } from '../http/problem';
import { pageOf } from '../page-schema';
import { paymentInput, paymentRow, paymentUpdate, writtenPayment } from '../payments/schema';

export type JsonSchema = Record<string, unknown>;

const NAMED = {
  Payment: paymentRow,
  WrittenPayment: writtenPayment,
  PaymentPage: pageOf(paymentRow),
  PaymentInput: paymentInput,
  PaymentChanges: paymentUpdate,
  Problem: problem,
};

/** The schemas that requests and answers are checked with, as JSON Schema under their public names. */
export function namedSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: schemaRef, override: withoutSafeBounds });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)]));
}

export function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}

/** The fields of a query as OpenAPI's parameters. */
export function queryParameters(fields: Record<string, z.ZodType>): JsonSchema[] {
  return Object.entries(fields).map(([name, field]) => {
    // Without its example, which viewers would fill in as a filter.
    const { description, examples: _, ...schema } = inlineSchema(field);
    return { name, in: 'query', description, schema };
  });
}

/** A schema that has no name of its own. */
export function inlineSchema(schema: z.ZodType): JsonSchema {
  return plain(z.toJSONSchema(schema, { override: withoutSafeBounds }));
}

/** Without the keys by which a schema would stand for itself. */
function plain({ $schema: _, $id: __, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** The bounds of JavaScript's exact integers say nothing of a field. */
function withoutSafeBounds({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
