const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** One handler for all methods of a route file, since Next answers those it does not export by itself. */
export function everyMethod<Handler>(handler: Handler): Record<(typeof METHODS)[number], Handler> {
  return Object.fromEntries(METHODS.map((method) => [method, handler])) as Record<
    (typeof METHODS)[number],
    Handler
  >;
}
