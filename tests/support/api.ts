import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll } from 'vitest';
import { commandActor } from '@/lib/audit/audit-log';
import { setRuntime } from '@/lib/runtime';
import type { Handler } from '@/lib/server/listener';
import type { Scope } from '@/lib/tokens/access-token';
import { createAccessToken } from '@/lib/tokens/manage-access-tokens';
import { borrowDatabase, createTestDatabase } from './database';
import { type TestRuntime, testRuntime } from './runtime';
import { serveHandler } from './serve-handler';
import { type RouteModule, serveRoutes } from './serve-routes';

export interface Api {
  readonly url: string;
  readonly runtime: TestRuntime;
  /** The log lines so far. Needs the option `withLog`. */
  readonly logged: Record<string, unknown>[];
  /** Moves the clock forward. */
  later(seconds: number): void;
  token(...scopes: Scope[]): Promise<string>;
  newToken(scopes: Scope[], expires_at?: Date): Promise<{ id: number; token: string }>;
}

interface ApiOptions {
  env?: Record<string, string>;
  /** Whether to use a separate database, for tests that change the schema. */
  withOwnDatabase?: boolean;
  withLog?: boolean;
}

/** Serves route files or a handler over HTTP, on an empty database. */
export async function openApi(
  served: Record<string, RouteModule> | Handler,
  { env = {}, withOwnDatabase = false, withLog = false }: ApiOptions = {},
): Promise<Api & { close(): Promise<void> }> {
  const database = await (withOwnDatabase ? createTestDatabase() : borrowDatabase());
  const runtime = testRuntime(database.db, { env });
  const logged: Record<string, unknown>[] = [];
  if (withLog) runtime.log = pino({ level: 'debug' }, toLines(logged));
  setRuntime(runtime);
  const server = await (typeof served === 'function' ? serveHandler(served) : serveRoutes(served));
  const newToken = (scopes: Scope[], expires_at: Date | null = null) => {
    const token = { name: 'Test', scopes, expires_at, created_by: commandActor('test') };
    return createAccessToken(runtime.db, token, runtime.randomBytes);
  };
  return {
    url: server.url,
    runtime,
    logged,
    later: (seconds) => runtime.setNow(new Date(runtime.now().getTime() + seconds * 1000)),
    newToken,
    token: async (...scopes) => (await newToken(scopes)).token,
    close: async () => {
      await server.close();
      setRuntime(undefined);
      await database.close();
    },
  };
}

/** Serves route files over HTTP on an empty database, for the tests of one file or describe block. */
export function useApi(
  routes: Record<string, RouteModule>,
  env: Record<string, string> = {},
  options: Omit<ApiOptions, 'env'> = {},
): Api {
  let opened: Awaited<ReturnType<typeof openApi>> | undefined;
  beforeAll(async () => {
    opened = await openApi(routes, { env, ...options });
  });
  afterAll(() => opened?.close());
  return new Proxy({} as Api, {
    get(_, name) {
      if (!opened) throw new Error('the server runs only inside tests');
      return Reflect.get(opened, name);
    },
  });
}

function toLines(logged: Record<string, unknown>[]): Writable {
  return new Writable({
    write(chunk, _encoding, done) {
      logged.push(JSON.parse(String(chunk)));
      done();
    },
  });
}
