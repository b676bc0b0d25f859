/**
 * What must exist once in a process. Next bundles pages, routes and instrumentation separately, and our server
 * is a bundle beside them: each has its own copy of a module's variables.
 *
 * @param name given to nothing else
 */
export function perProcess<T extends object>(name: string, make: () => T): T {
  const holder = globalThis as { [key: symbol]: T | undefined };
  const key = Symbol.for(`w5t.${name}`);
  holder[key] ??= make();
  return holder[key];
}
