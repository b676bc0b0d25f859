import { AppError } from '../errors';
import { problemResponse } from './problem';
import { METHODS, type Method, type Route } from './request';

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
