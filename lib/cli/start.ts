import { existsSync } from 'node:fs';
import { inheritedEnv, readEnv } from '../env';
import { StartError } from '../errors';
import { openDatabase } from '../runtime';
import { requirePort, startNext, untilExit } from './next-server';
import { runCommand } from './run-command';

runCommand(async () => {
  const env = readEnv();
  await requirePort(env.port);
  // Told here, in one sentence, rather than by a server that is already listening.
  await (await openDatabase(env)).close();
  if (!existsSync('.next/BUILD_ID')) {
    throw new StartError(['There is no production build: run npm run build first.']);
  }
  const server = startNext(['start', '-p', String(env.port)], { env: inheritedEnv() });
  process.exitCode = (await untilExit(server)).code;
});
