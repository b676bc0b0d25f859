import { Server } from 'node:http';
import next from 'next';
import { type Env, inheritedEnv } from '../env';
import { localUrl } from './addresses';
import type { Handler } from './listener';

/** Next's answer to every request, from the build in the working directory. */
export interface NextHandler {
  handle: Handler;
  /** Waits for what goes on after answers. */
  close(): Promise<void>;
}

export async function openNext(env: Pick<Env, 'host' | 'port'>): Promise<NextHandler> {
  // Where a server action redirects to, Next fetches from here, as it does under `next start`.
  inheritedEnv().__NEXT_PRIVATE_ORIGIN = localUrl(env);
  // It never listens: Next adds its upgrade listener to it, and leaves ours alone.
  const app = next({ dev: false, port: env.port, httpServer: new Server() });
  await app.prepare();
  return { handle: app.getRequestHandler(), close: () => app.close() };
}
