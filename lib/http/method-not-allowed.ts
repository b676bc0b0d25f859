import { AppError } from '../errors';
import { everyMethod } from './every-method';
import { problemResponse } from './problem';
import type { Route } from './request';

/** Handlers for the methods that a route does not have, which Next would answer without `Allow`. */
export function methodNotAllowed(allow: string): Route {
  const refuse = () =>
    problemResponse(new AppError('method_not_allowed', `Allowed here: ${allow}.`), { Allow: allow });
  const options = () => new Response(null, { status: 204, headers: { Allow: allow } });
  return { ...everyMethod(refuse), OPTIONS: options };
}
