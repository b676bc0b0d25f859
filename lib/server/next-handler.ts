import { readFileSync } from 'node:fs';
import { Server } from 'node:http';
import type { Env } from '../env';
import { inheritedEnv } from '../inherited-env';
import { localUrl } from './listen';
import type { Handler } from './listener';

/** File in which the build stores Next's configuration. */
const BUILT = '.next/required-server-files.json';

/** Creates a handler that runs Next with the build in the working directory. */
export function createNext(env: Pick<Env, 'host' | 'port'>) {
  let opening: ReturnType<typeof prepare> | undefined;
  let opened: Awaited<typeof opening>;
  const open = async () => {
    opening ??= prepare(env);
    opened = await opening;
    return opened;
  };
  return {
    /** Loads Next, which takes about a second. */
    open: async () => void (await open()),
    /** Handles a request. Waits until Next is loaded. */
    handle: (async (request, response) => (await open()).getRequestHandler()(request, response)) as Handler,
    /** Waits for work that continues after responses. Does nothing if Next is not loaded. */
    close: async () => opened?.close(),
  };
}

async function prepare(env: Pick<Env, 'host' | 'port'>) {
  // Next fetches the target of a server action's redirect from this URL. `next start` sets it in the same way.
  inheritedEnv().__NEXT_PRIVATE_ORIGIN = localUrl(env);
  // Pass the built configuration. Otherwise Next would compile next.config.ts with a compiler that needs 100 MB of disk
  // space and more memory.
  const { config } = JSON.parse(readFileSync(BUILT, 'utf8')) as { config: unknown };
  inheritedEnv().__NEXT_PRIVATE_STANDALONE_CONFIG = JSON.stringify(config);
  // Import Next here and not at the top of the file, so that the server can listen before Next is loaded.
  const { default: next } = await import('next');
  // This server never listens. It receives the upgrade listener that Next would otherwise add to our own server.
  const app = next({ dev: false, port: env.port, httpServer: new Server() });
  await app.prepare();
  return app;
}
