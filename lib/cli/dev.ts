import { readArguments } from '../commands/command';
import { readEnv } from '../env';
import { inheritedEnv } from '../inherited-env';
import { openDatabase } from '../open-database';
import { requirePort } from '../server/listen';
import { startNext, untilExit } from './child-process';
import { runProgram } from './program';

const USAGE = ['Usage: npm run dev', 'Starts the server, and rebuilds when files change.'];

runProgram(async (args) => {
  readArguments(args, { usage: USAGE });
  const env = readEnv();
  await requirePort(env);
  await (await openDatabase(env)).close();
  const server = startNext(['dev', '-p', String(env.port), '-H', env.host ?? 'localhost'], {
    env: inheritedEnv(),
  });
  process.exitCode = (await untilExit(server)).code;
});
