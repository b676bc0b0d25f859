import { AppError } from '../errors';
import { problemResponse } from './problem';

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

/** Handlers for the methods a route does not have, which Next would answer without `Allow`. */
export function methodNotAllowed(allow: string): Record<Method, () => Response> {
  const refuse = () =>
    problemResponse(new AppError('method_not_allowed', `Allowed here: ${allow}.`), { Allow: allow });
  const options = () => new Response(null, { status: 204, headers: { Allow: allow } });
  return {
    GET: refuse,
    HEAD: refuse,
    POST: refuse,
    PUT: refuse,
    PATCH: refuse,
    DELETE: refuse,
    OPTIONS: options,
  };
}
