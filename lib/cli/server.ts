import { existsSync } from 'node:fs';
import { readArguments } from '../commands/read-arguments';
import { readEnv } from '../env';
import { StartError } from '../errors';
import { migrateServer } from '../open-server';
import { getRuntime } from '../runtime';
import { listenAddresses } from '../server/addresses';
import { requirePort } from '../server/listen';
import { openNext } from '../server/next-handler';
import { openHttpServer } from '../server/open-http-server';
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
  const { log } = await getRuntime();
  const app = await openNext(env);
  const server = await openHttpServer({ ...env, log }, app.handle);
  const stopped = untilStopped();
  console.log(`Listening on ${env.port} of ${listenAddresses(env).join(' and ')}: ${env.publicUrl}`);
  if (process.connected) process.send?.('listening');
  process.exitCode = await stopped;
  await server.stop();
  await app.close();
});
