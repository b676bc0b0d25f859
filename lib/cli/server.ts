import { existsSync } from 'node:fs';
import { readArguments } from '../commands/read-arguments';
import { readEnv } from '../env';
import { StartError } from '../errors';
import { migrateServer } from '../open-server';
import { getRuntime } from '../runtime';
import { listenAddresses } from '../server/addresses';
import { fastFirst } from '../server/fast/fast-first';
import { FAST_ROUTES } from '../server/fast/routes';
import { requirePort } from '../server/listen';
import { createNext } from '../server/next-handler';
import { openHttpServer } from '../server/open-http-server';
import { noteStopping } from '../stopping';
import { runCommand } from './run-command';
import { untilStopped } from './until-stopped';

runCommand(async (args) => {
  const { values } = readArguments(args, { usage: [], options: { migrate: { type: 'boolean' } } });
  const env = readEnv();
  await requirePort(env); // again when it listens, but opening a database takes a while
  if (!existsSync('.next/BUILD_ID')) {
    throw new StartError(['There is no production build: run npm run build first.']);
  }
  if (values.migrate) await migrateServer(env);
  // Opened here, where an error is a sentence; Next's bundles find it on globalThis.
  const { log, close } = await getRuntime();
  const next = createNext(env);
  const handle = env.fastPaths ? fastFirst(FAST_ROUTES, next.handle) : next.handle;
  const server = await openHttpServer({ ...env, log }, handle);
  const stopped = untilStopped();
  console.log(`Listening on ${env.port} of ${listenAddresses(env).join(' and ')}: ${env.publicUrl}`);
  if (process.connected) process.send?.('listening');
  await Promise.race([next.open(), stopped]); // where it cannot be opened, this process ends
  await stopped;
  noteStopping();
  await server.stop();
  await next.close();
  await close();
});
