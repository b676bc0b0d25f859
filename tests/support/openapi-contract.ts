import { Ajv2020 } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { openApiDocument } from '@/lib/openapi/document';

type Json = Record<string, unknown>;

const document = openApiDocument('http://localhost:3000') as unknown as Json;
const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true });
addFormats.default(ajv);
ajv.addSchema(document, 'openapi');

/**
 * Checks a response against the OpenAPI document: its status is described for the operation, its headers and its body
 * match their schemas, and no required header is missing. Skips paths outside the document and OPTIONS, and the body of
 * a response to HEAD.
 *
 * @throws Error with the differences
 */
export async function assertContract(method: string, pathname: string, answer: Response): Promise<void> {
  const item = findPath(pathname);
  if (!item || method === 'OPTIONS') return;
  const operation = item[method === 'HEAD' ? 'get' : method.toLowerCase()];
  const declared = isJson(operation)
    ? at(operation, 'responses', String(answer.status))
    : answer.status === 405 && at(document, 'components', 'responses', 'method_not_allowed');
  const where = `${method} ${pathname} → ${answer.status}`;
  if (!isJson(declared)) throw new Error(`${where}: this status is not described`);
  const response = resolve(declared);
  assertHeaders(where, response, answer.headers);
  if (method !== 'HEAD') assertBody(where, response, answer.headers, await answer.text());
}

/** Returns a schema of the document by name. */
export function schemaOf(name: string): Json {
  const schema = at(document, 'components', 'schemas', name);
  if (!isJson(schema)) throw new Error(`the document has no schema ${name}`);
  return schema;
}

/** Draws values that match a JSON Schema of the kinds that the API uses. @throws Error for any other kind */
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

/** Draws JSON values that do not fit a field. `fits` tells whether a value fits it. */
export function arbitraryMisfit(fits: (value: unknown) => boolean): fc.Arbitrary<unknown> {
  const nearby = [0, -1, 0.5, 1e21, 2 ** 31, '', ' ', '12', 'a\u0000', 'x'.repeat(256), '2025-02-30'];
  return fc
    .oneof(fc.constantFrom<unknown>(...nearby, null, true, [], {}), fc.jsonValue({ maxDepth: 1 }))
    .filter((value) => !fits(value) && JSON.stringify(value) !== undefined);
}

function assertHeaders(where: string, response: Json, headers: Headers): void {
  for (const [name, reference] of Object.entries((response.headers ?? {}) as Record<string, Json>)) {
    const { required, schema } = resolve(reference);
    const text = headers.get(name);
    if (text === null && required) throw new Error(`${where}: the header ${name} is missing`);
    const isNumber = isJson(schema) && schema.type === 'integer';
    const errors = text === null ? [] : errorsOf(absolute(schema), isNumber ? Number(text) : text);
    if (errors.length > 0) throw new Error(`${where}: header ${name}: ${errors.join('; ')}`);
  }
}

function assertBody(where: string, response: Json, headers: Headers, text: string): void {
  const content = response.content as Record<string, Json> | undefined;
  if (!content) {
    if (text !== '') throw new Error(`${where}: there should be no body`);
    return;
  }
  const type = headers.get('content-type')?.split(';')[0] ?? 'none';
  const media = content[type];
  if (!media) throw new Error(`${where}: the media type ${type} is not described`);
  const errors = errorsOf(absolute(media.schema), /json$/.test(type) ? JSON.parse(text) : text);
  if (errors.length > 0) throw new Error(`${where}: ${errors.join('; ')}\n${text}`);
}

function findPath(pathname: string): Json | undefined {
  const paths = Object.entries(document.paths as Record<string, Json>);
  return paths.find(([pattern]) =>
    new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  )?.[1];
}

/** Lists the errors of a value against a JSON Schema. The list is empty if the value is valid. */
export function errorsOf(schema: unknown, value: unknown): string[] {
  const validate = ajv.compile(schema as Json);
  validate(value);
  return (validate.errors ?? []).map((error) => `${error.instancePath || 'body'} ${error.message}`);
}

/** Returns the schema with absolute references to the document, so that it can be used alone. */
function absolute(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
}

function resolve(node: Json): Json {
  if (typeof node.$ref !== 'string') return node;
  const found = at(document, ...node.$ref.slice(2).split('/'));
  if (!isJson(found)) throw new Error(`${node.$ref} leads nowhere`);
  return found;
}

function at(node: Json, ...path: string[]): unknown {
  return path.reduce<unknown>((value, key) => (isJson(value) ? value[key] : undefined), node);
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
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
