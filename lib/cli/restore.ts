import { readFile } from 'node:fs/promises';
import { readArguments } from '../commands/read-arguments';
import { readEnv } from '../env';
import { DATABASE_VARIABLES } from '../env-variables';
import { StartError } from '../errors';
import { withFile } from '../file-problem';
import { restoreDatabase } from '../open-database';
import { runCommand } from './run-command';

const USAGE = [
  'Usage: npm run restore -- FILE',
  'Makes the embedded database from a file of npm run backup, in a DATA_DIR that has none.',
];

runCommand(async (args) => {
  const { positionals } = readArguments(args, { usage: USAGE, positionals: 1 });
  const [file] = positionals;
  if (!file) throw new StartError(USAGE);
  const { databaseUrl, dataDir } = readEnv(DATABASE_VARIABLES);
  if (databaseUrl) throw new StartError(['DATABASE_URL is set: restore that database with pg_restore.']);
  await restoreDatabase(dataDir, file, await withFile(file, () => readFile(file)));
  console.log(`Restored into ${dataDir}.`);
});
