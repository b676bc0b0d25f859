import { inheritedEnv, readEnv } from '../env';
import { openDatabase } from '../runtime';
import { requirePort } from '../server/listen';
import { startNext } from './next-command';
import { runCommand } from './run-command';
import { untilExit } from './until-exit';

runCommand(async () => {
  const env = readEnv();
  await requirePort(env);
  await (await openDatabase(env)).close();
  const server = startNext(['dev', '-p', String(env.port), '-H', env.host ?? 'localhost'], {
    env: inheritedEnv(),
  });
  process.exitCode = (await untilExit(server)).code;
});
