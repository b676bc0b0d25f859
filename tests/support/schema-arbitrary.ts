import fc from 'fast-check';

type Json = Record<string, unknown>;

/** Values that fit a JSON Schema, of the kinds that the API's bodies use. @throws Error for any other */
export function arbitraryOf(schema: Json): fc.Arbitrary<unknown> {
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return objectOf(schema);
    case 'integer':
      return fc.integer({ min: Number(schema.minimum), max: Number(schema.maximum) });
    case 'number':
      return numberOf(schema);
    case 'string':
      return stringOf(schema);
    default:
      throw new Error(`no values for ${JSON.stringify(schema)}`);
  }
}

/** JSON values that do not fit a schema of one field. */
export function arbitraryMisfit(schema: Json, fits: (value: unknown) => boolean): fc.Arbitrary<unknown> {
  const nearby = [0, -1, 0.5, 1e21, 2 ** 31, '', ' ', '12', 'a\u0000', 'x'.repeat(256), '2025-02-30'];
  return fc
    .oneof(fc.constantFrom<unknown>(...nearby, null, true, [], {}), fc.jsonValue({ maxDepth: 1 }))
    .filter((value) => !fits(value) && JSON.stringify(value) !== undefined && schema !== value);
}

function objectOf(schema: Json): fc.Arbitrary<Json> {
  const properties = Object.entries(schema.properties as Record<string, Json>).filter(
    ([, field]) => field.readOnly !== true,
  );
  const values = Object.fromEntries(properties.map(([name, field]) => [name, arbitraryOf(field)]));
  const requiredKeys = (schema.required ?? []) as string[];
  return fc
    .record(values, { requiredKeys })
    .filter((value) => Object.keys(value).length >= Number(schema.minProperties ?? 0));
}

function numberOf(schema: Json): fc.Arbitrary<number> {
  return fc
    .double({ min: 0, max: Number(schema.maximum), noNaN: true })
    .filter((value) => value > Number(schema.exclusiveMinimum));
}

function stringOf(schema: Json): fc.Arbitrary<string> {
  if (schema.format === 'date') {
    return fc
      .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, 10));
  }
  const pattern = new RegExp(String(schema.pattern ?? ''), 'u');
  return fc
    .string({ unit: 'binary', minLength: Number(schema.minLength ?? 0), maxLength: Number(schema.maxLength) })
    .filter((text) => pattern.test(text) && [...text].length <= Number(schema.maxLength));
}
