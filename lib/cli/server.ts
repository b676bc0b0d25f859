import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import manifest from '../../package.json';
import { readArguments } from '../commands/command';
import { readEnv } from '../env';
import { StartError } from '../errors';
import { openMetrics } from '../metrics/metrics';
import { nameBuiltRoute } from '../metrics/route-names';
import { migrateServer } from '../open-database';
import { getRuntime, stripeCalls } from '../runtime';
import { fastFirst } from '../server/fast/fast-first';
import { FAST_ROUTES } from '../server/fast/routes';
import { LIMITS } from '../server/limits';
import { listenAddresses, requirePort } from '../server/listen';
import { logConsole } from '../server/log-console';
import { createNext } from '../server/next-handler';
import { openHttpServer } from '../server/open-http-server';
import { limitRenderings } from '../server/page-places';
import { noteStopping } from '../stopping';
import { flushToolCalls } from '../tool-calls/tool-calls';
import { closeTracing, openTracing } from '../tracing';
import { untilStopped } from './child-process';
import { runProgram } from './program';

/**
 * Milliseconds to wait before loading Next, because loading blocks the process. A request for a page loads Next at
 * once.
 */
const QUIET_MS = 100;

// By default V8 lets the heap double between two collections, which costs 150 MB while many pages are rendered.
setFlagsFromString('--heap-growing-percent=30');

runProgram(async (args) => {
  const { values } = readArguments(args, { usage: [], options: { migrate: { type: 'boolean' } } });
  const env = readEnv();
  await requirePort(env); // Fail early, because opening the database takes a while. `listen` checks the port again.
  if (!existsSync('.next/BUILD_ID')) {
    throw new StartError(['There is no production build: run npm run build first.']);
  }
  if (values.migrate) await migrateServer(env);
  // Open the runtime here, so that `runProgram` prints its errors. Next's bundles find the runtime on globalThis.
  const runtime = await getRuntime();
  const { log, close } = runtime;
  if (env.metricsToken !== null) await openMetrics();
  if (env.tracesEndpoint !== null) {
    await openTracing({
      endpoint: env.tracesEndpoint,
      version: manifest.version,
      nameRoute: nameBuiltRoute(),
      calls: stripeCalls,
      log,
    });
  }
  const next = createNext(env);
  const secret = runtime.randomBytes(32).toString('base64url');
  const pages = limitRenderings(next.handle, LIMITS);
  const handle = env.fastPaths ? fastFirst(FAST_ROUTES, pages) : pages;
  // Register this before listening, because a stop signal may follow the first response.
  const stopped = untilStopped();
  const server = await openHttpServer({ ...env, log, secret }, handle);
  console.log(`Listening on ${env.port} of ${listenAddresses(env).join(' and ')}: ${env.publicUrl}`);
  logConsole(log); // From the first request on, libraries may print parts of requests.
  if (process.connected) process.send?.('listening');
  const isStopped = await Promise.race([sleep(QUIET_MS, false), stopped.then(() => true)]);
  if (!isStopped) await Promise.race([next.open(), stopped]); // If Next cannot be loaded, this process ends.
  await stopped;
  noteStopping();
  await server.stop();
  await next.close();
  await flushToolCalls(runtime);
  await close();
  await closeTracing();
});
