import { waitUntil } from '@vercel/functions';
import { z } from 'zod';
import { AppError, type FieldError } from '../errors';
import { MAX_ID } from '../page';
import { explainFailure, type Runtime, runtimeOrError } from '../runtime';
import { type AccessToken, type Scope, touchAccessToken, verifyAccessToken } from '../tokens/access-token';
import {
  type Handler,
  type HttpRequest,
  METHODS,
  type Method,
  mediaType,
  originalName,
  type Params,
  parseJson,
  problemResponse,
  type Route,
  readBody,
  toAppError,
} from './messages';

/** Reject unknown parameters. Silently ignoring `dry_run` would suggest that it works. */
const NO_QUERY = z.strictObject({});

/** The checked input of an endpoint. */
export interface Call<Query = unknown, Body = unknown> {
  request: HttpRequest;
  runtime: Runtime;
  token: AccessToken;
  url: URL;
  params: Params;
  query: Query;
  body: Body;
}

/** One method of a route, with its required scope, its input and its handler. */
export interface Endpoint {
  scope: Scope;
  query?: z.ZodObject;
  body?: z.ZodType;
  run: (call: Call) => Promise<Response>;
}

/** Declares an endpoint, inferring the types of query and body from their schemas. */
export function endpoint<
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodUnknown,
>(declared: {
  scope: Scope;
  query?: Query;
  body?: Body;
  run: (call: Call<z.infer<Query>, z.infer<Body>>) => Promise<Response>;
}): Endpoint {
  return declared as unknown as Endpoint;
}

/**
 * Makes the handlers of a REST route. Unsupported methods get 405 and `Allow`. The checks run in this order:
 * method, token, scope, query, media type, size, JSON, fields. Each error is problem+json (RFC 9457).
 */
export function route(endpoints: Partial<Record<Exclude<Method, 'HEAD' | 'OPTIONS'>, Endpoint>>): Route {
  const allowed = METHODS.filter((m) => m === 'OPTIONS' || (m === 'HEAD' ? endpoints.GET : endpoints[m]));
  const allow = { Allow: allowed.join(', ') };
  const handle = (method: Method): Handler => {
    if (method === 'OPTIONS') return async () => new Response(null, { status: 204, headers: allow });
    const declared = endpoints[method === 'HEAD' ? 'GET' : method];
    return async (request, { params }) => {
      const runtime = await runtimeOrError();
      if (runtime instanceof AppError) return problemResponse(runtime);
      const requestId = runtime.newId();
      const response = await answer(runtime, requestId, async () => {
        if (!declared) throw new AppError('method_not_allowed', `${method} is not allowed here.`);
        const token = await authorize(runtime, declared, request);
        return declared.run(await prepare(runtime, declared, { request, token, params: await params }));
      });
      if (!declared) response.headers.set('Allow', allow.Allow);
      response.headers.set('X-Request-Id', requestId);
      response.headers.set('Cache-Control', 'no-store');
      return method === 'HEAD' ? new Response(null, response) : response;
    };
  };
  return Object.fromEntries(METHODS.map((method) => [method, handle(method)])) as Route;
}

/** Parses the `id` in a path. @throws AppError not_found if no row can have this id */
export function pathId(params: Params): number {
  const text = params.id ?? '';
  const id = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : 0;
  if (id < 1 || id > MAX_ID)
    throw new AppError('not_found', `There is nothing with id ${text.slice(0, 40)}.`);
  return id;
}

async function answer(runtime: Runtime, ref: string, run: () => Promise<Response>): Promise<Response> {
  try {
    return await run();
  } catch (error) {
    const known = toAppError(await explainFailure(runtime, error), ref, runtime.log);
    return problemResponse(known, known.code === 'unauthenticated' ? { 'WWW-Authenticate': 'Bearer' } : {});
  }
}

/** Verifies the token and its scope. @throws AppError unauthenticated for a bad token, forbidden without the scope */
async function authorize(runtime: Runtime, { scope }: Endpoint, request: HttpRequest): Promise<AccessToken> {
  const text = /^bearer +(\S+) *$/i.exec(request.headers.get('authorization') ?? '')?.[1];
  const token = text ? await verifyAccessToken(runtime.db, text, runtime.now()) : null;
  if (!token) {
    const advice = 'Send a valid access token as "Authorization: Bearer <ACCESS_TOKEN>".';
    throw new AppError('unauthenticated', advice);
  }
  noteUse(runtime, token);
  if (token.scopes.includes(scope)) return token;
  throw new AppError('forbidden', `This access token lacks the scope ${scope}.`);
}

async function prepare(
  runtime: Runtime,
  declared: Endpoint,
  { request, token, params }: Pick<Call, 'request' | 'token' | 'params'>,
): Promise<Call> {
  const url = new URL(request.url);
  const query = validateQuery(declared.query ?? NO_QUERY, url.searchParams);
  const body = declared.body ? validate(declared.body, await readJson(request), 'body') : undefined;
  return { request, runtime, token, url, params, query, body };
}

function noteUse(runtime: Runtime, token: AccessToken): void {
  waitUntil(
    touchAccessToken(runtime.db, token, runtime.now()).catch((error: unknown) => {
      toAppError(error, 'last_used_at', runtime.log); // Only log the error, because the request does not depend on it.
    }),
  );
}

async function readJson(request: HttpRequest): Promise<unknown> {
  if (mediaType(request) !== 'application/json') {
    throw new AppError('unsupported_media_type', 'Send the body as Content-Type: application/json.');
  }
  return parseJson(await readBody(request));
}

// Limits on the errors in a response. A body of 1 MiB may contain a hundred thousand unknown fields, or one field with
// a name of 1 MiB.
const MAX_ERRORS = 100;
const MAX_FIELD = 100;

/**
 * Parses a value with a schema.
 *
 * @throws AppError validation_failed naming up to 100 invalid fields
 */
export function validate<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
): z.infer<Schema> {
  const parsed = schema.safeParse(input, { reportInput: true });
  if (parsed.success) return parsed.data;
  throw new AppError(
    'validation_failed',
    `The ${what} is not valid.`,
    parsed.error.issues.flatMap(toFieldErrors).slice(0, MAX_ERRORS),
  );
}

/**
 * Parses the parameters of a query string with a schema. If the schema expects a number, up to 15 digits with an
 * optional minus become a number.
 *
 * @throws AppError validation_failed for unknown, repeated or invalid parameters
 */
export function validateQuery<Schema extends z.ZodObject>(
  schema: Schema,
  params: URLSearchParams,
): z.infer<Schema> {
  const repeated = [...new Set(params.keys())].filter((name) => params.getAll(name).length > 1);
  if (repeated.length > 0) {
    const errors = repeated.map((name) => ({
      field: originalName(name),
      message: 'must be given only once',
    }));
    throw new AppError('validation_failed', 'The query is not valid.', errors);
  }
  const input = Object.fromEntries(
    [...params].map(([name, value]) => {
      const isNumber = isNumberField(schema.shape[name]) && /^-?\d{1,15}$/.test(value);
      return [originalName(name), isNumber ? Number(value) : value];
    }),
  );
  return validate(schema, input, 'query');
}

function isNumberField(field: unknown): boolean {
  if (field instanceof z.ZodOptional) return isNumberField(field.unwrap());
  return field instanceof z.ZodNumber;
}

function toFieldErrors(issue: z.core.$ZodIssue): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ field: key.slice(0, MAX_FIELD), message: 'is not known' }));
  }
  const missing = issue.code === 'invalid_type' && issue.input === undefined && issue.path.length > 0;
  return [{ field: issue.path.join('.'), message: missing ? 'is required' : issue.message }];
}
