import { getRuntime, setRuntime } from '@/lib/runtime';
import type { Handler } from '@/lib/server/listener';
import { createNext } from '@/lib/server/next-handler';
import { ensureBuild } from './next-build';
import { serveHandler } from './serve-handler';

let opened: Promise<Handler> | undefined;

/** Opens Next's production build in the process of the test, where it uses the runtime of the test. */
export function openNextHere(): Promise<Handler> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Handler> {
  await ensureBuild();
  const runtime = await getRuntime();
  const next = createNext({ host: null, port: 3000 });
  // As on Vercel, the server must neither run the schedule nor accept commands.
  setRuntime({ ...runtime, env: { ...runtime.env, vercel: true } });
  try {
    const server = await serveHandler(next.handle);
    await fetch(`${server.url}/icon.svg`); // The first request runs the instrumentation.
    await server.close();
  } finally {
    setRuntime(runtime);
  }
  return next.handle;
}
