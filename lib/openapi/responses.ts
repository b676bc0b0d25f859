import { z } from 'zod';
import { AppError, diskFull, ERROR_STATUS, type ErrorCode, type FieldError } from '../errors';
import { type Problem, problem, toProblem } from '../http/messages';
import { pageOf } from '../page';
import { paymentInput, paymentRow, paymentUpdate, writtenPayment } from '../payments/schema';

type Headers = Record<string, { $ref: string }>;
export type Responses = Record<string, unknown>;

/** Error codes that the REST API returns. It never returns `too_many_requests`, which is only for staff logins. */
type ApiErrorCode = Exclude<ErrorCode, 'too_many_requests'>;

const MESSAGES: Record<ApiErrorCode, [message: string, field?: FieldError]> = {
  malformed_json: ['The body is not valid JSON.'],
  unauthenticated: ['Send a valid access token as "Authorization: Bearer <ACCESS_TOKEN>".'],
  forbidden: ['This access token lacks the scope payments:write.'],
  not_found: ['There is no payment 4711.'],
  method_not_allowed: ['POST is not allowed here.'],
  not_acceptable: ['Send Accept: application/pdf or application/xml.'],
  conflict: [
    'Another payment has this payment_reference.',
    { field: 'payment_reference', message: 'is used by another payment' },
  ],
  precondition_failed: ['The payment has changed since you read it: read it again.'],
  payload_too_large: ['The body is larger than 1 MiB.'],
  unsupported_media_type: ['Send the body as Content-Type: application/json.'],
  validation_failed: ['The body is not valid.', { field: 'amount', message: 'must be greater than 0' }],
  internal: ['Something went wrong on our side (ref 0b9c8e4e-6d2f-4c1a-9f57-3c9d1e8a7b60). Try again later.'],
  unavailable: ['The database does not answer. Try again in a few seconds.'],
  insufficient_storage: [diskFull().message],
};

const EXAMPLES = (Object.keys(MESSAGES) as ApiErrorCode[]).map((code) => {
  const [message, field] = MESSAGES[code];
  return new AppError(code, message, field && [field]);
});

const HEADERS_OF: Partial<Record<ErrorCode, string[]>> = {
  unauthenticated: ['WWW-Authenticate'],
  method_not_allowed: ['Allow'],
  unavailable: ['Retry-After'],
};

/** Returns a response with an example for each error code, keyed by the code. `errors` refers to these responses. */
export function errorResponses(): Responses {
  return Object.fromEntries(EXAMPLES.map((error) => [error.code, toResponse(error)]));
}

/** Returns references to the responses of `errorResponses` with these codes, keyed by HTTP status. */
export function errors(...codes: ApiErrorCode[]): Responses {
  return Object.fromEntries(
    codes.map((code) => [String(ERROR_STATUS[code]), { $ref: `#/components/responses/${code}` }]),
  );
}

/**
 * Returns responses with these errors as examples, keyed by HTTP status. Spread the result after the result of `errors`
 * to replace responses of the same status.
 */
export function ownErrors(...errors: AppError[]): Responses {
  return Object.fromEntries(errors.map((error) => [String(error.status), toResponse(error)]));
}

/** Returns an example response body for every error code of the API. */
export function listErrorTypes(): Problem[] {
  return EXAMPLES.map(toProblem);
}

function toResponse(error: AppError) {
  const example = toProblem(error);
  const is = { type: { const: example.type }, status: { const: example.status } };
  const schema = { allOf: [{ $ref: schemaRef('Problem') }, { properties: is }] };
  const headers = headerRefs(HEADERS_OF[error.code] ?? []);
  const content = { 'application/problem+json': { schema, example } };
  return { description: example.title, headers, content };
}

/** Describes a response with a JSON body. */
export function json(description: string, schema: unknown, headers: string[] = [], example?: unknown) {
  const content = { 'application/json': { schema, ...(example !== undefined && { example }) } };
  return { description, headers: headerRefs(headers), content };
}

/** Describes a response without a body. */
export function empty(description: string, headers: string[] = []) {
  return { description, headers: headerRefs(headers) };
}

export const HEADERS = {
  'X-Request-Id': header('Names this request in our log.'),
  ETag: header('Names this state of the payment, for If-Match and If-None-Match (RFC 9110).'),
  'Content-Disposition': header('The name of the file.'),
  Link: header('The first, previous, next and last page (RFC 8288).'),
  Location: header('The path of the new payment.', 'uri-reference'),
  'WWW-Authenticate': header('Bearer'),
  Allow: header('The methods that this address has.'),
  'Retry-After': { description: 'Seconds to wait.', required: true, schema: { type: 'integer' } },
};

function header(description: string, format?: string) {
  return { description, required: true, schema: { type: 'string', ...(format && { format }) } };
}

/** Returns references to headers that are defined in the description's components. */
export function headerRefs(names: string[]): Headers {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

type JsonSchema = Record<string, unknown>;

const NAMED = {
  Payment: paymentRow,
  WrittenPayment: writtenPayment,
  PaymentPage: pageOf(paymentRow),
  PaymentInput: paymentInput,
  PaymentChanges: paymentUpdate,
  Problem: problem,
};

/** Returns the schemas that check requests and responses, as JSON Schema under their public names. */
export function namedSchemas(): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, { uri: schemaRef, override: withoutSafeBounds });
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, plain(schema)]));
}

export function schemaRef(name: string): string {
  return `#/components/schemas/${name}`;
}

/** Describes the fields of a query as OpenAPI parameters. */
export function queryParameters(fields: Record<string, z.ZodType>): JsonSchema[] {
  return Object.entries(fields).map(([name, field]) => {
    // Leave out the example, because API viewers would send it as the value of the filter.
    const { description, examples: _, ...schema } = inlineSchema(field);
    return { name, in: 'query', description, schema };
  });
}

/** Converts a schema without a public name to JSON Schema, for use in place. */
export function inlineSchema(schema: z.ZodType): JsonSchema {
  return plain(z.toJSONSchema(schema, { override: withoutSafeBounds }));
}

/** Removes the keys that only a standalone schema may have. */
function plain({ $schema: _, $id: __, ...schema }: JsonSchema): JsonSchema {
  return schema;
}

/** Removes the bounds of JavaScript's safe integers, which zod adds to every integer field. */
function withoutSafeBounds({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
