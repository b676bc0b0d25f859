import { inheritedEnv, readEnv } from '../env';
import { openDatabase } from '../runtime';
import { requirePort, startNext, untilExit } from './next-server';
import { runCommand } from './run-command';

runCommand(async () => {
  const env = readEnv();
  await requirePort(env.port);
  await (await openDatabase(env)).close();
  const server = startNext(['dev', '-p', String(env.port)], { env: inheritedEnv() });
  process.exitCode = (await untilExit(server)).code;
});
