import { Server } from 'node:http';
import type { Env } from '../env';
import { inheritedEnv } from '../inherited-env';
import { localUrl } from './listen';
import type { Handler } from './listener';

/** Next's answer to every request, from the build in the working directory. */
export interface NextHandler {
  /** Loads it, which takes a second. */
  open(): Promise<void>;
  /** Waits until it is open. */
  handle: Handler;
  /** Waits for what goes on after answers; where it is not open yet, for nothing. */
  close(): Promise<void>;
}

export function createNext(env: Pick<Env, 'host' | 'port'>): NextHandler {
  let opening: ReturnType<typeof prepare> | undefined;
  let opened: Awaited<typeof opening>;
  const open = async () => {
    opening ??= prepare(env);
    opened = await opening;
    return opened;
  };
  return {
    open: async () => void (await open()),
    handle: async (request, response) => (await open()).getRequestHandler()(request, response),
    close: async () => opened?.close(),
  };
}

async function prepare(env: Pick<Env, 'host' | 'port'>) {
  // Where a server action redirects to, Next fetches from here, as it does under `next start`.
  inheritedEnv().__NEXT_PRIVATE_ORIGIN = localUrl(env);
  const { default: next } = await import('next'); // not before the first requests are answered
  // It never listens: Next adds its upgrade listener to it, and leaves ours alone.
  const app = next({ dev: false, port: env.port, httpServer: new Server() });
  await app.prepare();
  return app;
}
