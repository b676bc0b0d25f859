import { getRuntime, setRuntime } from '@/lib/runtime';
import type { Handler } from '@/lib/server/listener';
import { createNext } from '@/lib/server/next-handler';
import { ensureBuild } from './next-build';
import { serveHandler } from './serve-handler';

let opened: Promise<Handler> | undefined;

/** Next's production build inside the test's process, where it meets the test's runtime. */
export function openNextHere(): Promise<Handler> {
  opened ??= open();
  return opened;
}

async function open(): Promise<Handler> {
  await ensureBuild();
  const runtime = await getRuntime();
  const next = createNext({ host: null, port: 3000 });
  // Vercel's servers neither keep the schedule nor take commands.
  setRuntime({ ...runtime, env: { ...runtime.env, vercel: true } });
  try {
    const server = await serveHandler(next.handle);
    await fetch(`${server.url}/icon.svg`); // instrumentation runs at the first request
    await server.close();
  } finally {
    setRuntime(runtime);
  }
  return next.handle;
}
