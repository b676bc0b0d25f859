import { METHODS, type Method } from './request';

/** One handler for all methods of a route file, since Next answers those it does not export by itself. */
export function everyMethod<Given>(handler: Given): Record<Method, Given> {
  return Object.fromEntries(METHODS.map((method) => [method, handler])) as Record<Method, Given>;
}
