import { z } from 'zod';
import { isDatabaseUnavailable, isDiskFullError, pgErrorCode } from '@/db/database';
import { AppError, diskFull, type ErrorCode } from '../errors';
import { type Logger, stackOf } from '../log';
import { METHODS, type Method, type Route } from './request';

/** RFC 9457. */
export const problem = z.object({
  type: z
    .string()
    .meta({ description: 'Names the kind of error for programs; it is not an address to fetch.' }),
  title: z.string(),
  status: z.int(),
  detail: z.string().meta({ description: 'A sentence for people.' }),
  errors: z
    .array(
      z.object({
        field: z.string().meta({
          description: 'The body field or query parameter; empty where the whole is meant.',
        }),
        message: z.string(),
      }),
    )
    .optional(),
});
export type Problem = z.infer<typeof problem>;

const TITLES: Record<ErrorCode, string> = {
  malformed_json: 'Malformed JSON',
  unauthenticated: 'Unauthenticated',
  forbidden: 'Forbidden',
  not_found: 'Not found',
  method_not_allowed: 'Method not allowed',
  conflict: 'Conflict',
  precondition_failed: 'Precondition failed',
  payload_too_large: 'Payload too large',
  unsupported_media_type: 'Unsupported media type',
  validation_failed: 'Validation failed',
  too_many_requests: 'Too many requests',
  internal: 'Internal error',
  unavailable: 'Service unavailable',
  insufficient_storage: 'Insufficient storage',
};

export function toProblem(error: AppError): Problem {
  return {
    type: `urn:w5t:error:${error.code}`,
    title: TITLES[error.code],
    status: error.status,
    detail: error.message,
    ...(error.fields.length > 0 && { errors: error.fields }),
  };
}

export function problemResponse(error: AppError, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(toProblem(error)), {
    status: error.status,
    headers: {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      ...(error.retryAfter !== undefined && { 'Retry-After': String(error.retryAfter) }),
      ...headers,
    },
  });
}

// Other transactions were in the way: in a circle, six times over, or for longer than we wait.
const CONTENDED = /^(40...|55P03|57014)$/;

/** Returns an AppError as it is. Any other error is logged under `ref`, and the answer contains only `ref`. */
export function toAppError(error: unknown, ref: string, log: Logger): AppError {
  if (error instanceof AppError) return error;
  const code = pgErrorCode(error);
  // Never the driver's message: it holds the parameters, that is, personal data.
  log.error({ ref, code, stack: stackOf(error) }, 'request failed');
  if (CONTENDED.test(code ?? '')) {
    return new AppError('unavailable', 'Others are writing the same. Try again in a few seconds.');
  }
  if (isDiskFullError(error)) return diskFull();
  return isDatabaseUnavailable(error)
    ? new AppError('unavailable', 'The database does not answer. Try again in a few seconds.')
    : new AppError('internal', `Something went wrong on our side (ref ${ref}). Try again later.`);
}

/** Handlers for the methods that a route does not have, which Next would answer without `Allow`. */
export function methodNotAllowed(allow: string): Route {
  const refuse = () =>
    problemResponse(new AppError('method_not_allowed', `Allowed here: ${allow}.`), { Allow: allow });
  const options = () => new Response(null, { status: 204, headers: { Allow: allow } });
  return { ...everyMethod(refuse), OPTIONS: options };
}

/** One handler for all methods of a route file, since Next answers those it does not export by itself. */
export function everyMethod<Given>(handler: Given): Record<Method, Given> {
  return Object.fromEntries(METHODS.map((method) => [method, handler])) as Record<Method, Given>;
}

/** The 404 of a path below /api that no route has. */
export function answerUnknownPath(): Response {
  return problemResponse(new AppError('not_found', 'There is no page at this address.'));
}
