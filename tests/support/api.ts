import { afterAll, beforeAll } from 'vitest';
import { commandActor } from '@/lib/audit/record-audit';
import type { Scope } from '@/lib/auth/tokens/access-token';
import { createAccessToken } from '@/lib/auth/tokens/manage-access-tokens';
import { setRuntime } from '@/lib/runtime';
import { borrowDatabase } from './database';
import { type TestRuntime, testRuntime } from './runtime';
import { type RouteModule, serveRoutes } from './serve-routes';

export interface Api {
  url: string;
  runtime: TestRuntime;
  token(...scopes: Scope[]): Promise<string>;
}

/** Route files over HTTP on a fresh database, for the tests of one file. */
export function useApi(routes: Record<string, RouteModule>, env: Record<string, string> = {}): Api {
  let opened: { url: string; runtime: TestRuntime } | undefined;
  let close = async () => {};
  beforeAll(async () => {
    const database = await borrowDatabase();
    const runtime = testRuntime(database.db, { env });
    setRuntime(runtime);
    const server = await serveRoutes(routes);
    opened = { url: server.url, runtime };
    close = async () => {
      await server.close();
      setRuntime(undefined);
      await database.close();
    };
  });
  afterAll(() => close());
  const get = () => {
    if (!opened) throw new Error('the server runs only inside tests');
    return opened;
  };
  return {
    get url() {
      return get().url;
    },
    get runtime() {
      return get().runtime;
    },
    token: async (...scopes) => {
      const { db, randomBytes } = get().runtime;
      const made = await createAccessToken(
        db,
        { name: 'Test', scopes, expires_at: null, created_by: commandActor('test') },
        randomBytes,
      );
      return made.token;
    },
  };
}
