/**
 * Returns an object that exists once in a process. Next bundles pages, routes and instrumentation separately, and our
 * server is another bundle, so each bundle has its own copy of a module's variables.
 *
 * @param name unique name of the object
 */
export function perProcess<T extends object>(name: string, make: () => T): T {
  const holder = globalThis as { [key: symbol]: T | undefined };
  const key = Symbol.for(`w5t.${name}`);
  holder[key] ??= make();
  return holder[key];
}
